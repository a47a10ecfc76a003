import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PermittedLines } from '../src/permitted-lines.ts'

const isDenied = (path: string): boolean => /(?:^|\/)key$/u.test(path)

function filtered(output: string, sizes: readonly number[] = []): string {
  const lines = new PermittedLines(isDenied)
  const kept: Buffer[] = []
  let rest = Buffer.from(output)
  for (const size of [...sizes, rest.length]) {
    kept.push(Buffer.from(lines.push(rest.subarray(0, size))))
    rest = rest.subarray(size)
  }
  return Buffer.concat(kept).toString()
}

const output = [
  './key\u00001:secret',
  '--',
  './a\u00001-before',
  './a\u00002:é 3:x',
  '--',
  './x/key\u00009:secret',
  './x/key: binary file matches (found "\\0" byte around offset 5)',
  '--',
  './b: binary file matches (found "\\0" byte around offset 5)',
  'something new in ./key',
  './key\u00001:secret',
  './line\nfeed\u00001:kept',
  './c\u00001:last',
  '',
].join('\n')

const expected = [
  './a-1-before',
  './a:2:é 3:x',
  '--',
  './b: binary file matches (found "\\0" byte around offset 5)',
  './line\nfeed:1:kept',
  './c:1:last',
  '',
].join('\n')

describe('PermittedLines', () => {
  it('drops the lines of denied files, and the gaps that were theirs', () => {
    expect(filtered(output)).toBe(expected)
  })

  it('says the same however the output is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 60 }), (sizes) => {
        expect(filtered(output, sizes)).toBe(expected)
      }),
    )
  })

  it('drops a line without an end that names no path', () => {
    const lines = new PermittedLines(() => false)
    expect(lines.push(Buffer.alloc(70_000, 'x'))).toHaveLength(0)
    expect(lines.push(Buffer.from('x\n./a\u00001:y\n')).toString()).toBe('./a:1:y\n')
  })
})

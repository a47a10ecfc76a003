import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PermittedMatches } from '../../src/search/permitted-matches.ts'

const isDenied = (path: string): boolean => /(?:^|\/)key$/u.test(path)

function filtered(output: string, sizes: readonly number[] = []): string {
  const matches = new PermittedMatches({ isDenied, hasContext: true, maxMessageBytes: 1000 })
  const kept: Buffer[] = []
  let rest = Buffer.from(output)
  for (const size of [...sizes, rest.length]) {
    kept.push(...matches.push(rest.subarray(0, size)).map(({ printed }) => printed))
    rest = rest.subarray(size)
  }
  return Buffer.concat(kept).toString('latin1')
}

type Line = readonly [type: 'match' | 'context', line: number, text: string | Buffer]
const content = (of: string | Buffer) =>
  typeof of === 'string' ? { text: of } : { bytes: of.toString('base64') }

/** The messages of one file. */
function file(path: string, lines: readonly Line[], binaryOffset: number | null = null): string {
  const messages = [
    { type: 'begin', data: { path: { text: path } } },
    ...lines.map(([type, line, text]) => ({
      type,
      data: { path: { text: path }, lines: content(text), line_number: line, submatches: [] },
    })),
    { type: 'end', data: { path: { text: path }, binary_offset: binaryOffset } },
  ]
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('')
}

const output = [
  file('./key', [['match', 1, 'secret\n']]),
  file('./a', [
    ['context', 1, 'before\n'],
    ['match', 2, 'e 3:x\r\n'],
    ['match', 9, Buffer.from('caf\xe9\n', 'latin1')],
  ]),
  file('./x/key', [['match', 9, 'secret\n']], 5),
  'no message\n{"type":"match","data":null}\n{"type":"match","data":{"lines":{"text":"secret"},"line_number":1}}\n',
  file('./b', [['match', 1, 'bin\n']], 5),
  file('./line\nfeed', [['match', 1, 'kept\n']]),
  file('./ok: binary file matches (found \nX/key', [['match', 1, 'secret\n']]),
  file('./long', [
    ['match', 1, 'y'.repeat(2000)],
    ['match', 3, 'last'],
  ]),
  '{"type":"summary","data":{}}\n',
].join('')

const expected = [
  './a-1-before',
  './a:2:e 3:x\r',
  '--',
  './a:9:caf\xe9',
  './b: binary file matches (found "\\0" byte around offset 5)',
  '--',
  './line\nfeed:1:kept',
  './long: a line is too long to be searched under the rules of this sandbox',
  '--',
  './long:3:last',
  '',
].join('\n')

describe('PermittedMatches', () => {
  it('drops the lines of denied files, and anything that is not a message', () => {
    expect(filtered(output)).toBe(expected)
  })

  it('returns the same text however the output is split', () => {
    const whole = filtered(output)
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 200 }), { maxLength: 60 }), (sizes) => {
        expect(filtered(output, sizes)).toBe(whole)
      }),
    )
  })

  it('buffers only a part of a long file', () => {
    const matches = new PermittedMatches({ isDenied, hasContext: false })
    const text = file(
      './a',
      Array.from({ length: 2000 }, (_, n) => ['match', n + 1, `${'x'.repeat(99)}\n`]),
    )
    const withoutEnd = text.slice(0, text.lastIndexOf('{"type":"end"'))
    const kept = matches.push(Buffer.from(withoutEnd)).map(({ printed }) => printed.toString())
    expect(kept.slice(0, 2)).toEqual([`./a:1:${'x'.repeat(99)}\n`, `./a:2:${'x'.repeat(99)}\n`])
    expect(kept).toHaveLength(2000)
  })
})

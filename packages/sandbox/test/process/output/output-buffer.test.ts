import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OutputBuffer } from '../../../src/process/output/output-buffer.ts'
import type { OutputStream } from '../../../src/isolation/running-command.ts'

function capture(
  maxBytes: number,
  ...chunks: readonly (readonly [OutputStream, string | Buffer])[]
) {
  const buffer = new OutputBuffer(maxBytes)
  for (const [stream, bytes] of chunks) buffer.push(stream, Buffer.from(bytes))
  return buffer.capture()
}

const marker = /\n\[… (\d+) bytes omitted …\]\n/

describe('OutputBuffer', () => {
  test('keeps everything that fits, in the order of arrival and by stream', () => {
    const captured = capture(100, ['stdout', 'one '], ['stderr', 'two '], ['stdout', 'three'])
    expect(captured).toMatchObject({
      output: 'one two three',
      stdout: 'one three',
      stderr: 'two ',
      omittedBytes: 0,
    })
  })

  test('keeps exactly the limit whole, and cuts the middle out of one byte more', () => {
    expect(capture(1000, ['stdout', 'x'.repeat(1000)]).output).toBe('x'.repeat(1000))
    const { output, omittedBytes } = capture(1000, ['stdout', 'x'.repeat(1001)])
    expect(output).toMatch(marker)
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1000)
    expect(omittedBytes).toBe(1001 - output.replace(marker, '').length)
    expect(Number(marker.exec(output)?.[1])).toBe(omittedBytes)
  })

  test('keeps the beginning and the end, of both streams and of each', () => {
    const lines = Array.from({ length: 10_000 }, (_, line) => `line ${line}\n`)
    const { output, stdout, stderr } = capture(
      2000,
      ...lines.map((line, index) => [index % 2 === 0 ? 'stdout' : 'stderr', line] as const),
    )
    expect(output.startsWith('line 0\nline 1\nline 2\n')).toBe(true)
    expect(output.endsWith('line 9997\nline 9998\nline 9999\n')).toBe(true)
    expect(stdout.startsWith('line 0\nline 2\n')).toBe(true)
    expect(stderr.endsWith('line 9997\nline 9999\n')).toBe(true)
    for (const text of [output, stdout, stderr]) expect(text.length).toBeLessThanOrEqual(2000)
  })

  test('joins a character whose bytes arrive with the other stream between them', () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)]
    const captured = capture(100, ['stdout', first], ['stderr', '!'], ['stdout', second])
    expect(captured).toMatchObject({ output: '!é', stdout: 'é', stderr: '!' })
  })

  test('shows invalid bytes and NUL as replacement characters', () => {
    const bytes = Buffer.from([0x61, 0x00, 0xff, 0x62])
    const captured = capture(100, ['stdout', bytes], ['stderr', 'text'])
    expect(captured.stdout).toBe('a\uFFFD\uFFFDb')
    expect(captured.stderr).toBe('text')
  })

  test('shows a character that the end cuts off as a replacement character', () => {
    expect(capture(100, ['stdout', Buffer.from('é').subarray(0, 1)])).toMatchObject({
      output: '\uFFFD',
      stdout: '\uFFFD',
    })
  })

  test('never exceeds the limit and never shows damage that the command did not do', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 0, maxLength: 60 })
      .filter((part) => !part.includes('\0') && part.isWellFormed())
    const chunk = fc.tuple(fc.constantFrom<OutputStream>('stdout', 'stderr'), text)
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 60 }),
        fc.integer({ min: 1, max: 600 }),
        (chunks, limit) => {
          const buffer = new OutputBuffer(limit)
          // Cut into pieces of three bytes: most characters beyond ASCII arrive in two.
          for (const [stream, part] of chunks) {
            const bytes = Buffer.from(part)
            for (let start = 0; start < bytes.length; start += 3) {
              buffer.push(stream, bytes.subarray(start, start + 3))
            }
          }
          const captured = buffer.capture()
          const whole = chunks.map(([, part]) => part).join('')
          const [head = '', tail = ''] = captured.output
            .split(marker)
            .filter((_, index) => index !== 1)
          expect(Buffer.byteLength(captured.output)).toBeLessThanOrEqual(limit)
          expect(captured.output.isWellFormed()).toBe(true)
          expect(whole.startsWith(head)).toBe(true)
          if (marker.test(captured.output)) expect(whole.endsWith(tail)).toBe(true)
          else
            expect(
              captured.output.length === whole.length || Buffer.byteLength(whole) > limit,
            ).toBe(true)
          expect(buffer.totalBytes).toBe(Buffer.byteLength(whole))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('takes many small writes of both streams in time that grows with their number', () => {
    const buffer = new OutputBuffer(200_000)
    const byte = Buffer.from('x')
    for (let index = 0; index < 1_000_000; index += 1) {
      buffer.push(index % 2 === 0 ? 'stdout' : 'stderr', byte)
    }
    const { output, stdout, omittedBytes } = buffer.capture()
    expect(output.replace(marker, '').length + omittedBytes).toBe(1_000_000)
    expect(Number(marker.exec(stdout)?.[1]) + stdout.replace(marker, '').length).toBe(500_000)
  })
})

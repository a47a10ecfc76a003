import { describe, expect, test } from 'vitest'
import { createLiveLines } from '../../src/terminal/live-lines.ts'
import { createTerminal } from '@smithers/cli/src/terminal/terminal.ts'
import { recordingStream } from '../../../../packages/cli/test/fixtures/recording-stream.ts'

function linesOn(isTTY: boolean): {
  lines: ReturnType<typeof createLiveLines>
  readonly written: () => string
} {
  const { stream, written } = recordingStream(isTTY)
  return {
    lines: createLiveLines(createTerminal({ stdout: stream, stderr: stream, env: {} })),
    written,
  }
}

describe('createLiveLines', () => {
  test('writes into a file only what is final, without control characters', () => {
    const { lines, written } = linesOn(false)
    lines.start('a', () => 'a runs')
    lines.start('b', () => 'b runs')
    lines.line('a remark')
    lines.end('b', 'b is done')
    lines.end('a', 'a is done')
    lines.stop()
    expect(written()).toBe('a remark\nb is done\na is done\n')
  })

  test('shows on a terminal that a call runs, before it has ended', () => {
    const { lines, written } = linesOn(true)
    lines.start('a', () => 'a runs')
    expect(written()).toContain('a runs')
    expect(written()).not.toContain('a is done')
    lines.end('a', 'a is done')
    lines.stop()
    expect(written()).toContain('a is done\n')
  })

  test('keeps showing the calls that still run', () => {
    const { lines, written } = linesOn(true)
    lines.start('a', () => 'a runs')
    lines.start('b', () => 'b runs')
    lines.end('a', 'a is done')
    expect(written().lastIndexOf('b runs')).toBeGreaterThan(written().lastIndexOf('a is done'))
    lines.end('b', 'b is done')
    lines.stop()
  })

  test('writes nothing while the terminal is taken, and everything once it is free', () => {
    const { lines, written } = linesOn(true)
    lines.start('a', () => 'a runs')
    const release = lines.hold()
    const before = written()
    lines.start('b', () => 'b runs')
    lines.line('a remark')
    lines.end('a', 'a is done')
    expect(written()).toBe(before)
    release()
    expect(written().slice(before.length)).toMatch(/^a remark\na is done\n.*b runs/s)
    lines.end('b', 'b is done')
    lines.stop()
  })
})

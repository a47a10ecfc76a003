import { describe, expect, test, vi } from 'vitest'
import { createTerminal } from '../../src/terminal/terminal.ts'
import { showWaiting } from '../../src/terminal/wait-indicator.ts'
import { recordingStream } from '../fixtures/recording-stream.ts'

const erase = '\r\u001B[2K'

function terminalOf(isTTY: boolean) {
  const out = recordingStream(isTTY)
  const err = recordingStream(isTTY)
  const terminal = createTerminal({ stdout: out.stream, stderr: err.stream, env: {} })
  return { terminal, out: out.written, err: err.written }
}

/** Runs a test on a clock of its own. */
function onOwnClock(run: () => void): void {
  vi.useFakeTimers()
  try {
    run()
  } finally {
    vi.useRealTimers()
  }
}

describe('showWaiting', () => {
  test('shows after 300 ms without output, and is erased before the next line', () => {
    onOwnClock(() => {
      const { terminal, out, err } = terminalOf(true)
      const waiting = showWaiting(terminal, ['calls'])
      vi.advanceTimersByTime(299)
      expect(err()).toBe('')
      vi.advanceTimersByTime(1)
      expect(err()).toBe(`${erase}⠋`)
      terminal.line('a line')
      expect(err()).toBe(`${erase}⠋${erase}`)
      expect(out()).toBe('a line\n')
      vi.advanceTimersByTime(299)
      expect(err()).toBe(`${erase}⠋${erase}`)
      vi.advanceTimersByTime(1)
      expect(err()).toContain('⠙')
      waiting.stop()
      expect(err().endsWith(erase)).toBe(true)
    })
  })

  test('does not erase a line that is unfinished', () => {
    onOwnClock(() => {
      const { terminal, err } = terminalOf(true)
      const waiting = showWaiting(terminal, ['exec', '--', 'x'])
      terminal.stdout.write('half a line')
      vi.advanceTimersByTime(5_000)
      expect(err()).toBe('')
      terminal.stdout.write(Buffer.from(', and its end\n'))
      vi.advanceTimersByTime(300)
      expect(err()).toBe(`${erase}⠋`)
      waiting.stop()
    })
  })

  test('leaves both streams as they were', () => {
    onOwnClock(() => {
      const { terminal, err } = terminalOf(true)
      const { write } = terminal.stdout
      const waiting = showWaiting(terminal, [])
      expect(terminal.stdout.write).not.toBe(write)
      waiting.stop()
      expect(terminal.stdout.write).toBe(write)
      vi.advanceTimersByTime(5_000)
      expect(err()).toBe('')
    })
  })

  test.for([
    { name: 'in a pipe', isTTY: false, args: ['calls'] },
    { name: 'of a page', isTTY: true, args: ['view'] },
    { name: 'with --json', isTTY: true, args: ['calls', '--json'] },
  ])('never shows $name', ({ isTTY, args }) => {
    onOwnClock(() => {
      const { terminal, err } = terminalOf(isTTY)
      const waiting = showWaiting(terminal, args)
      vi.advanceTimersByTime(5_000)
      waiting.stop()
      expect(err()).toBe('')
    })
  })
})

import { describe, expect, test } from 'vitest'
import { createTerminal } from '../../src/terminal/terminal.ts'
import { recordingStream } from '../fixtures/recording-stream.ts'

function coloredText(isTTY: boolean, env: Record<string, string>): string {
  const { stream, written } = recordingStream(isTTY)
  const terminal = createTerminal({ stdout: stream, stderr: stream, env })
  terminal.line(terminal.colors.red('text'))
  return written()
}

describe('createTerminal', () => {
  test.each([
    ['a terminal', true, {}, true],
    ['a pipe', false, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['NO_COLOR and FORCE_COLOR', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
    ['a pipe in CI', false, { CI: 'true' }, false],
  ])('colours %s: %s', (_name, isTTY, env, colored) => {
    expect(coloredText(isTTY, env)).toBe(colored ? '\u001b[31mtext\u001b[39m\n' : 'text\n')
  })
})

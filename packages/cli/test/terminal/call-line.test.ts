import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { duration, endedCallLine, runningCallLine } from '../../src/terminal/call-line.ts'

const colors = pc.createColors(false)
const call = { id: 'token', seq: 3, toolName: 'read', input: { path: 'src/split.js' } }
const ended = { ...call, durationMs: 2.4, code: null, message: null, replayed: false }

describe('endedCallLine', () => {
  test('says below the line why a call did not succeed', () => {
    const failed = { ...ended, code: 'TOOL_PATCH_FAILED', message: 'It does not fit.\n\u001b[2Jx' }
    const [line, reason] = endedCallLine(failed, colors).split('\n')
    expect(line).toMatch(/failed TOOL_PATCH_FAILED$/)
    expect(reason).toBe(String.raw`      It does not fit.⏎\x1b[2Jx`)
  })

  test('holds the number, the tool, the path, the time and the outcome', () => {
    expect(endedCallLine(ended, colors)).toMatch(/^ {2}3 read {2}src\/split\.js +2 ms {2}ok$/)
  })

  test('tells a refusal from a failure', () => {
    expect(endedCallLine({ ...ended, code: 'TOOL_PATH_ESCAPE' }, colors)).toMatch(
      / {2}refused TOOL_PATH_ESCAPE$/,
    )
    expect(endedCallLine({ ...ended, code: 'TOOL_COMMAND_FAILED' }, colors)).toMatch(
      / {2}failed TOOL_COMMAND_FAILED$/,
    )
  })

  test('says that an output was replayed', () => {
    expect(endedCallLine({ ...ended, replayed: true }, colors)).toMatch(/ {2}ok \(replayed\)$/)
  })

  test('stays one line when an argument holds line breaks and escape sequences', () => {
    const line = endedCallLine({ ...ended, input: { path: 'a\nb\u001b[1A\rc' } }, colors)
    expect(line).toContain(String.raw`a⏎b\x1b[1A\x0dc`)
    expect(line).not.toContain('\n')
  })
})

describe('runningCallLine', () => {
  test('holds no outcome yet', () => {
    expect(runningCallLine(call, 1234, colors)).toMatch(/^ {2}3 read {2}src\/split\.js +1\.2 s$/)
  })
})

describe('duration', () => {
  test('is in milliseconds below a second', () => {
    expect(duration(999)).toBe('999 ms')
    expect(duration(61_000)).toBe('61.0 s')
  })
})

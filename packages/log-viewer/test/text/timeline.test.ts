import { createMemoryLog } from '@smithers/log-memory'
import { followTimeline, printTimeline } from '@smithers/log-viewer'
import { describe, expect, it, vi } from 'vitest'
import { addCall, ended, logWithLostPayment } from '../fixtures/sample-log.ts'

describe('the timeline as text', () => {
  it('has a line for each call of the newest run, by attempt, with how it ended', async () => {
    const lines: string[] = []
    await printTimeline({ log: logWithLostPayment(), write: (line) => lines.push(line), width: 79 })
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
      'run-1  calls-only  3 calls, 1 UNKNOWN, 1 refused',
      '',
      'pay, attempt 1  The process ended in call 2 (charge), before the end of the call was recorded.',
      '  1  read  order.json  5 ms  ok',
      '  2  charge  customer: alice, amount: 100  5 ms  OUTCOME UNKNOWN  TOOL_OUTCOME_UNKNOWN',
      '',
      'pay, attempt 2',
      '  1  charge  customer: alice, amount: 100  5 ms  refused  TOOL_CALL_BLOCKED',
    ])
  })

  it('says once what each code of the run means, where it is known', async () => {
    const lines: string[] = []
    const text = { meaning: 'It may have happened.', advice: 'Look it up.' }
    const errorTexts = { TOOL_OUTCOME_UNKNOWN: text, TOOL_TIMEOUT: text }
    await printTimeline({
      log: logWithLostPayment(),
      write: (line) => lines.push(line),
      errorTexts,
    })
    expect(lines.slice(-2)).toEqual(['', 'TOOL_OUTCOME_UNKNOWN: It may have happened. Look it up.'])
    expect(lines.filter((line) => line.includes('Look it up.'))).toHaveLength(1)
  })

  it('has bars on one axis in a wide terminal', async () => {
    const lines: string[] = []
    await printTimeline({
      log: logWithLostPayment(),
      write: (line) => lines.push(line),
      width: 120,
    })
    const bars = lines.flatMap((line) => /│(.*)│/.exec(line)?.[1] ?? [])
    expect(bars).toHaveLength(3)
    expect(bars.map((bar) => bar.length)).toEqual([30, 30, 30])
    expect(bars.map((bar) => bar.indexOf('█'))).toEqual([0, 0, 29])
  })

  it('shows every control character of a call, and lets none act', async () => {
    const log = createMemoryLog()
    const hostile = '\u001b[2J\u001b]0;title\u0007\r\u202egnp.exe\u0000\ud800'
    addCall(log, {
      runId: hostile,
      nodeId: hostile,
      toolName: hostile,
      inputJson: JSON.stringify({ path: hostile }),
    })
    const lines: string[] = []
    await printTimeline({ log, write: (line) => lines.push(line), width: 200 })
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(lines.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    expect(lines.join('\n')).toContain(String.raw`\u001b[2J`)
  })

  it('says that a log which lists no runs is shown in part', async () => {
    const { listRuns, ...log } = logWithLostPayment()
    void listRuns
    const lines: string[] = []
    await printTimeline({ log, write: (line) => lines.push(line) })
    expect(lines[0]).toBe('This log lists no runs, so only its newest 10000 calls are shown.')
  })

  it('fails with what to do when there is nothing to show', async () => {
    const log = createMemoryLog()
    await expect(printTimeline({ log, write: () => {} })).rejects.toThrow('The log has no run yet.')
    addCall(log)
    await expect(printTimeline({ log, runId: 'none', write: () => {} })).rejects.toThrow(
      /Leave the id out/,
    )
  })
})

describe('a timeline that is followed', () => {
  it('has a line for a call as it starts and one as it ends, until it is aborted', async () => {
    const log = createMemoryLog()
    addCall(log, { seq: 1 })
    const lines: string[] = []
    const ending = new AbortController()
    const following = followTimeline({
      log,
      write: (line) => lines.push(line),
      signal: ending.signal,
    })
    const last = (): string => lines.at(-1)?.replaceAll(/ {2,}/g, '  ') ?? ''
    await vi.waitFor(() => expect(last()).toMatch(/1 {2}charge.*ok$/), { timeout: 60_000 })
    addCall(log, { seq: 2 }, null)
    await vi.waitFor(() => expect(last()).toMatch(/2 {2}charge.*running$/), { timeout: 60_000 })
    log.finish('token-2', ended())
    await vi.waitFor(() => expect(last()).toMatch(/2 {2}charge.*ok$/), { timeout: 60_000 })
    ending.abort()
    await following
    expect(lines.filter((line) => /^ +1 /.test(line))).toHaveLength(1)
  })
})

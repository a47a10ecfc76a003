import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { failedWith, writeSampleLog } from './fixtures/sample-log.ts'
import type { SampleCall } from './fixtures/sample-log.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const key = '6f1d3b0a-0000-5000-8000-000000000001'
const calls: readonly SampleCall[] = [
  { seq: 1, toolName: 'read', input: { path: 'a.txt' }, finish: {} },
  {
    seq: 2,
    toolName: 'bash',
    input: { cmd: 'curl', args: ['x'] },
    finish: failedWith('TOOL_NETWORK_DISABLED'),
  },
  { seq: 3, toolName: 'bash', input: { cmd: 'false' }, finish: failedWith('TOOL_COMMAND_FAILED') },
  {
    seq: 4,
    toolName: 'charge',
    input: { cents: 100 },
    sideEffect: true,
    idempotent: false,
    idempotencyKey: key,
    finish: { effect: 'applied' },
  },
  {
    seq: 5,
    toolName: 'charge',
    input: { cents: 100 },
    sideEffect: true,
    idempotent: false,
    idempotencyKey: key,
    finish: { effect: 'none', replayOf: 'token-4' },
  },
  // Started long ago by a process that is dead.
  { seq: 6, toolName: 'charge', input: { cents: 7 }, sideEffect: true, idempotent: false },
  // Its lease has not ended.
  { seq: 7, toolName: 'grep', input: { pattern: 'x' }, leaseExpiresAtMs: Date.now() + 3_600_000 },
  {
    seq: 8,
    toolName: 'charge',
    sideEffect: true,
    finish: { ...failedWith('TOOL_OUTCOME_UNKNOWN'), effect: 'unknown' },
  },
]

async function sampleLog(rows: readonly SampleCall[] = calls): Promise<string> {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, rows)
  return path
}

describe('smithers calls', () => {
  test('lists every call with its outcome, effect and key', async () => {
    const { exitCode, stdout, stderr } = await runSmithers(['calls', '--log', await sampleLog()])
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    const [head, ...lines] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(head).toEqual(['seq', 'tool', 'arguments', 'took', 'outcome', 'effect', 'key'])
    expect(lines).toEqual([
      ['1', 'read', 'a.txt', '30 ms', 'ok', 'none'],
      ['2', 'bash', 'curl x', '30 ms', 'refused TOOL_NETWORK_DISABLED', 'none'],
      ['3', 'bash', 'false', '30 ms', 'failed TOOL_COMMAND_FAILED', 'none'],
      ['4', 'charge', '{"cents":100}', '30 ms', 'ok', 'applied', '6f1d3b0a'],
      ['5', 'charge', '{"cents":100}', '30 ms', 'replayed', 'none', '6f1d3b0a'],
      ['6', 'charge', '{"cents":7}', 'unknown'],
      ['7', 'grep', 'x in .', 'running', 'none'],
      ['8', 'charge', '{}', '30 ms', 'unknown TOOL_OUTCOME_UNKNOWN', 'unknown'],
    ])
  })

  test('shows that a second attempt got the output of the first instead of repeating it', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    let charges = 0
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ cents: z.number() }),
      sideEffect: true,
      idempotent: false,
      onRetry: 'reuse',
      execute: (_args, ctx) => `charge ${++charges} ${ctx.idempotencyKey}`,
    })
    const log = createSqliteLog({ path })
    for (const attempt of [1, 2]) {
      const { charge: bound } = createToolRun({ runId: 'run-1', attempt, log }).tools({ charge })
      await bound.execute({ cents: 100 }, { toolCallId: `call-${attempt}`, messages: [] })
    }
    await log.close()
    expect(charges).toBe(1)

    const { stdout } = await runSmithers(['calls', '--log', path])
    const [, first, second] = stdout.split('\n').map((line) => line.split(/ {2,}/))
    expect(first?.slice(0, 4)).toEqual(['1', '1', 'charge', '{"cents":100}'])
    expect(first?.slice(5, 7)).toEqual(['ok', 'applied'])
    expect(second?.[5]).toBe('replayed')
    expect(second?.at(-1)).toBe(first?.at(-1))

    const shown = await runSmithers(['show', '1', '--log', path])
    expect(shown.stdout).toContain('output of attempt 1, call 1\n')
  })

  test('gives runs, tasks and attempts a column when there is more than one', async () => {
    const path = await sampleLog([
      { seq: 1, toolName: 'read', finish: {} },
      { seq: 1, toolName: 'read', attempt: 2, finish: {} },
      { seq: 1, toolName: 'read', runId: 'run-2', finish: {} },
    ])
    const { stdout } = await runSmithers(['calls', '--log', path])
    expect(stdout).toMatch(/^run +task +attempt +seq/)
    expect(stdout).toMatch(/^run-1 +agent +1 +1/m)
    expect(stdout).toMatch(/^run-1 +agent +2 +1/m)
    expect(stdout).toMatch(/^run-2 +agent +1 +1/m)
    const one = await runSmithers(['calls', '--log', path, '--run', 'run-2'])
    expect(one.stdout).toMatch(/^seq +tool/)
  })

  test('prints with --json one row a line, every field of the log and the outcome', async () => {
    const { stdout } = await runSmithers(['calls', '--log', await sampleLog(), '--json'])
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(rows.map(({ outcome }) => outcome)).toEqual([
      'ok',
      'refused',
      'failed',
      'ok',
      'replayed',
      'unknown',
      'running',
      'unknown',
    ])
    expect(rows[3]).toMatchObject({
      runId: 'run-1',
      seq: 4,
      input: { cents: 100 },
      idempotencyKey: key,
      effect: 'applied',
    })
  })

  test('filters by tool and state, and shows the newest of many', async () => {
    const path = await sampleLog()
    const charges = await runSmithers([
      'calls',
      '--log',
      path,
      '--tool',
      'charge',
      '--status',
      'started',
    ])
    expect(charges.stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(charges.stdout).toMatch(/^6 /m)

    const newest = await runSmithers(['calls', '--log', path, '--limit', '2'])
    expect(
      newest.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(0, 1)),
    ).toEqual(['s', '7', '8'])
    expect(newest.stderr).toContain('--limit 4')
  })

  test('says on stderr that nothing matches, so that a script gets no line', async () => {
    const { exitCode, stdout, stderr } = await runSmithers([
      'calls',
      '--log',
      await sampleLog(),
      '--run',
      'none',
    ])
    expect([exitCode, stdout, stderr]).toEqual([0, '', 'No calls match.\n'])
  })

  test('shows escape sequences of a logged argument instead of sending them', async () => {
    const path = await sampleLog([
      { seq: 1, toolName: 'read', input: { path: '\u001b]0;title\u0007' }, finish: {} },
    ])
    const { stdout } = await runSmithers(['calls', '--log', path], { env: { FORCE_COLOR: '1' } })
    expect(stdout).toContain(String.raw`\x1b]0;title\x07`)
    expect(stdout).not.toContain('\u001b]0;')
  })
})

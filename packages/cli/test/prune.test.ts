import { join } from 'node:path'
import { createSqliteLog, type SqliteLog } from '@smithers/log-sqlite'
import { describe, expect, test } from 'vitest'
import { writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const claim = { inputJson: '{"secret":"input"}', optionsJson: '{}', ownerId: 'test' }

/** A log with a finished workflow run, an open one, and calls outside workflows. */
async function sampleLog(): Promise<string> {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, [
    { seq: 1, toolName: 'read', runId: 'done', finish: {} },
    { seq: 1, toolName: 'read', runId: 'open', finish: {} },
    { seq: 1, toolName: 'read', runId: 'loose', finish: {} },
  ])
  const log = createSqliteLog({ path })
  for (const runId of ['done', 'open']) {
    const leaseToken = `lease-${runId}`
    await log.runs.claim({ ...claim, runId, leaseToken, leaseExpiresAtMs: 2_000, nowMs: 1_000 })
    await log.runs.startAttempt({
      runId,
      leaseToken,
      nodeId: 'pay',
      iteration: 0,
      taskId: 'pay',
      outputName: null,
      attempt: 1,
      nowMs: 1_000,
    })
    const status = runId === 'done' ? 'finished' : 'stopped'
    await log.runs.release({ runId, leaseToken, status, errorJson: null, nowMs: 1_500 })
  }
  await log.close()
  return path
}

async function inLog<Value>(
  path: string,
  look: (log: SqliteLog) => Value,
): Promise<Awaited<Value>> {
  const log = createSqliteLog({ path })
  try {
    return await look(log)
  } finally {
    await log.close()
  }
}

function runsIn(path: string): Promise<unknown> {
  return inLog(path, async (log) => ({
    calls: (await log.list({})).map(({ runId }) => runId).toSorted(),
    runs: (await log.runs.list({})).map(({ runId }) => runId).toSorted(),
    tasksOfDone: (await log.runs.tasks('done')).length,
    tasksOfOpen: (await log.runs.tasks('open')).length,
  }))
}

describe('smithers prune', () => {
  test('removes old runs with their inputs and progress, and keeps the open one', async () => {
    const path = await sampleLog()
    const everything = {
      calls: ['done', 'loose', 'open'],
      runs: ['done', 'open'],
      tasksOfDone: 1,
      tasksOfOpen: 1,
    }
    // The control: all of it is there.
    expect(await runsIn(path)).toEqual(everything)
    const { exitCode, stdout, stderr } = await runSmithers([
      'prune',
      '--older-than',
      '1d',
      '--log',
      path,
    ])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe('Removed 2 calls and 1 workflow run.\n')
    expect(await runsIn(path)).toEqual({
      calls: ['open'],
      runs: ['open'],
      tasksOfDone: 0,
      tasksOfOpen: 1,
    })
  })

  test('removes an open run that is named', async () => {
    const path = await sampleLog()
    const { exitCode, stdout } = await runSmithers(['prune', 'open', '--json', '--log', path])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      type: 'prune',
      calls: 1,
      workflowRuns: 1,
      kept: [],
    })
    expect(await runsIn(path)).toMatchObject({
      calls: ['done', 'loose'],
      runs: ['done'],
      tasksOfOpen: 0,
    })
  })

  test('keeps a run that a process works on, and says so', async () => {
    const path = await sampleLog()
    await inLog(path, (log) =>
      log.runs.claim({
        ...claim,
        runId: 'open',
        leaseToken: 'working',
        nowMs: Date.now(),
        leaseExpiresAtMs: Date.now() + 3_600_000,
      }),
    )
    const { exitCode, stderr } = await runSmithers(['prune', 'open', '--log', path])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('A process works on open')
    expect(await runsIn(path)).toMatchObject({ runs: ['done', 'open'], tasksOfOpen: 1 })
  })

  test.each([
    ['without a condition', [], 'Say what to remove'],
    ['with an unknown run', ['missing'], 'has no run "missing"'],
    ['with an unknown age', ['--older-than', 'soon'], 'e.g. 30d'],
  ])('removes nothing %s', async (_, args, message) => {
    const path = await sampleLog()
    const { exitCode, stderr } = await runSmithers(['prune', ...args, '--log', path])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
    expect(await runsIn(path)).toMatchObject({ calls: ['done', 'loose', 'open'] })
  })
})

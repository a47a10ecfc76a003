import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { defineTool, type ToolCallLog } from '@smithers/tool-core'
import { currentOwnerId } from '@smithers/tool-core/log'
import { runTask } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

/** The default tool: it may be repeated, so nothing but the lease keeps two attempts apart. */
function paying(paid: number[]) {
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    execute: async ({ cents }) => {
      paid.push(cents)
      return 'paid'
    },
  })
  const calls = [1, 2, 3, 4, 5, 6].map((cents) => ({ tool: 'charge', input: { cents } }))
  return () => scriptedAgent({ charge }, [...calls, 'done']).agent
}

/** Answers a repetition from the log. */
function chargeOnce(paid: number[]) {
  return defineTool({
    name: 'charge',
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    idempotent: false,
    onRetry: 'reuse',
    acceptsContext: true,
    execute: async ({ cents }) => {
      paid.push(cents)
      return 'paid'
    },
  })
}

function sharedFile(): () => ReturnType<typeof createSqliteLog> {
  const folder = mkdtempSync(join(tmpdir(), 'smithers-lease-'))
  const path = join(folder, 'calls.db')
  const opened: ReturnType<typeof createSqliteLog>[] = []
  onTestFinished(async () => {
    for (const log of opened) await log.close()
    rmSync(folder, { recursive: true })
  })
  return () => {
    const log = createSqliteLog({ path })
    opened.push(log)
    return log
  }
}

describe('runTask', () => {
  test('works on a task once, however many callers start it at the same time', async () => {
    const open = sharedFile()
    const paid: number[] = []
    const agent = paying(paid)
    const started = Array.from({ length: 8 }, () =>
      runTask({ agent: agent(), prompt: 'Pay.', runId: 'order-1', log: open() }),
    )
    const outcomes = await Promise.allSettled(started)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'WORKFLOW_RUN_BUSY' })
      }
    }
    expect(paid).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('lets other tasks, iterations and runs work at the same time', async () => {
    const open = sharedFile()
    const paid: number[] = []
    const agent = paying(paid)
    const task = { prompt: 'Pay.', runId: 'order-1' }
    await Promise.all(
      [
        task,
        { ...task, nodeId: 'b' },
        { ...task, iteration: 1 },
        { ...task, runId: 'order-2' },
      ].map((each) => runTask({ ...each, agent: agent(), log: open() })),
    )
    expect(paid).toHaveLength(24)
  })

  test.each(['success', 'failure'])('gives the task up after its %s', async (end) => {
    const log = createMemoryLog()
    const { agent } = scriptedAgent({}, [
      () => (end === 'success' ? 'done' : Promise.reject(new Error('down'))),
      'done again',
    ])
    const task = { agent, prompt: 'Go.', runId: 'order-1', log }
    await Promise.allSettled([runTask(task)])
    expect(await runTask(task)).toMatchObject({ output: 'done again' })
  })

  test('takes a task over from a process that is gone, and from an expired lease', async () => {
    const gone = currentOwnerId().replace(/:\d+:\d+$/, ':999999999:1')
    for (const lease of [
      { ownerId: gone, token: 'theirs', expiresAtMs: Date.now() + 60_000 },
      { ownerId: currentOwnerId(), token: 'theirs', expiresAtMs: Date.now() - 1 },
    ]) {
      const log = createMemoryLog()
      const { agent } = scriptedAgent({}, ['done', 'done'])
      const task = { agent, prompt: 'Go.', runId: 'order-1', log }
      await log.state.set({
        runId: 'order-1',
        key: 'smithers.task-lease 0 task',
        version: 1,
        valueJson: JSON.stringify(lease),
        updatedAtMs: Date.now(),
      })
      expect(await runTask(task)).toMatchObject({ output: 'done' })
    }
  })

  test('stops when another process has taken the task over', async () => {
    const log = createMemoryLog()
    const { promise: never } = Promise.withResolvers<string>()
    const key = 'smithers.task-lease 0 task'
    const agent = {
      async generate({ abortSignal }: { abortSignal: AbortSignal }) {
        const entry = await log.state.get('order-1', key)
        const theirs = { ownerId: currentOwnerId(), token: 'theirs', expiresAtMs: Date.now() + 1e6 }
        log.state.set({
          runId: 'order-1',
          key,
          version: (entry?.version ?? 0) + 1,
          valueJson: JSON.stringify(theirs),
          updatedAtMs: Date.now(),
        })
        abortSignal.throwIfAborted()
        return { text: await never, response: { messages: [] } }
      },
    }
    const task = { agent, prompt: 'Go.', runId: 'order-1', log, leaseMs: 30, retries: 5 }
    await expect(runTask(task)).rejects.toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
  })

  test('stops at the end of the last confirmed lease while a renewal waits, and another attempt goes on', async () => {
    const memory = createMemoryLog()
    const renewals = { confirmed: 0, areAnswered: true }
    const log: ToolCallLog = {
      ...memory,
      state: {
        ...memory.state,
        async set(entry) {
          if (!entry.key.startsWith('smithers.task-lease')) return await memory.state.set(entry)
          if (!renewals.areAnswered) return await new Promise<boolean>(() => {})
          renewals.confirmed += 1
          return await memory.state.set(entry)
        },
      },
    }
    const paid: number[] = []
    const charge = chargeOnce(paid)
    const { promise: taskEnded, resolve: endTask } = Promise.withResolvers<void>()
    const { agent } = scriptedAgent({ charge }, [
      { tool: 'charge', input: { cents: 1 } },
      async () => {
        // More than the first lease has passed.
        await expect.poll(() => renewals.confirmed, { interval: 5 }).toBeGreaterThan(4)
        return { tool: 'charge', input: { cents: 2 } }
      },
      async () => {
        renewals.areAnswered = false
        await taskEnded
        return { tool: 'charge', input: { cents: 4 } }
      },
      'done',
    ])
    const task = { prompt: 'Pay.', runId: 'order-1' }
    const lost = runTask({ ...task, agent, log, leaseMs: 60 })
    await expect(lost).rejects.toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    endTask()
    // The lease that is stored ends with the millisecond in which it was lost.
    const lostAtMs = Date.now()
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(lostAtMs + 1)
    const calls = [1, 2, 3].map((cents) => ({ tool: 'charge', input: { cents } }))
    const next = scriptedAgent({ charge }, [...calls, 'done']).agent
    expect(await runTask({ ...task, agent: next, log: memory })).toMatchObject({ attempt: 2 })
    expect(paid).toEqual([1, 2, 3])
  })

  test('refuses a task in which a call is in progress, with a log that keeps no state', async () => {
    const memory = createMemoryLog()
    const { state: _state, runs: _runs, ...log } = memory
    const paid: number[] = []
    const { promise: release, resolve } = Promise.withResolvers<string>()
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const wait = defineTool({
      name: 'wait',
      schema: z.object({}),
      execute: () => {
        reach()
        return release
      },
    })
    const first = runTask({
      agent: scriptedAgent({ wait }, [{ tool: 'wait', input: {} }, 'done']).agent,
      prompt: 'Wait.',
      runId: 'order-1',
      log,
    })
    await reached
    const agent = paying(paid)
    const second = runTask({ agent: agent(), prompt: 'Pay.', runId: 'order-1', log })
    await expect(second).rejects.toMatchObject({ code: 'WORKFLOW_RUN_BUSY' })
    expect(paid).toEqual([])
    resolve('waited')
    await first
    expect(await runTask({ agent: agent(), prompt: 'Pay.', runId: 'order-1', log })).toMatchObject({
      attempt: 2,
    })
  })
})

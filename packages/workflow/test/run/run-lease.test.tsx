import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineTool } from '@smithers/tool-core'
import { heldHere } from '@smithers/tool-core/log'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { z } from 'zod'
import { logKinds, openLog, type RunLog, type TemporaryLog } from '../fixtures/run-logs.ts'

const { Workflow, Task, Parallel, smithers } = createSmithers({})

let opened: TemporaryLog
let log: RunLog

describe.each(logKinds)('runWorkflow with a run in %s', (kind) => {
  beforeEach(() => {
    opened = openLog(kind)
    log = opened.log
  })

  afterEach(() => opened.close())

  test('refuses a run that is being worked on, and lets it finish', async () => {
    let release = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    const started: string[] = []
    const workflow = smithers(() => (
      <Workflow name="busy">
        <Task id="wait">
          {async () => {
            started.push('wait')
            await waiting
          }}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: '' } }
    const first = runWorkflow(workflow, options)
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'WORKFLOW_RUN_BUSY',
      message: expect.stringContaining('Run "run-1" is running in another process'),
    })
    release()
    await first
    expect(started).toEqual(['wait'])
  })

  test('stops working on a run that another process has taken', async () => {
    let release = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    const workflow = smithers(() => (
      <Workflow name="stolen">
        <Parallel>
          <Task id="slow">{() => waiting}</Task>
          <Task id="signalled">
            {({ signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason))
              })
            }
          </Task>
        </Parallel>
        <Task id="after">{() => 'never'}</Task>
      </Workflow>
    ))
    const first = runWorkflow(workflow, { runId: 'run-1', log, input: { file: '' } })
    const failure = first.catch((error: unknown) => error)
    await untilAttempts(2)
    // A process on another host, which cannot see that this one lives, finds its lease ended.
    await hideHolder()
    const taken = await log.runs.claim({
      runId: 'run-1',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'elsewhere:1:1',
      leaseToken: 'theirs',
      leaseExpiresAtMs: Date.now() + 600_000,
      nowMs: Date.now() + 120_000,
    })
    expect(taken.ok).toBe(true)
    release()
    expect(await failure).toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    expect(await log.runs.tasks('run-1')).toMatchObject([
      { nodeId: 'slow', status: 'interrupted' },
      { nodeId: 'signalled', status: 'interrupted' },
    ])
    expect(await log.runs.list({})).toMatchObject([{ status: 'running', ownerId: 'elsewhere:1:1' }])
  })

  test('notices by the renewal of its lease that it has lost the run', async () => {
    const workflow = smithers(() => (
      <Workflow name="renewal">
        <Task id="wait">
          {({ signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason))
            })
          }
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: '' }, leaseMs: 30 }
    const keepAlive = setInterval(() => {}, 1000)
    const run = runWorkflow(workflow, options)
    const failure = run.catch((error: unknown) => error)
    await untilAttempts(1)
    await hideHolder()
    await log.runs.claim({
      runId: 'run-1',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'elsewhere:1:1',
      leaseToken: 'theirs',
      leaseExpiresAtMs: Date.now() + 600_000,
      nowMs: Date.now() + 120_000,
    })
    expect(await failure).toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    clearInterval(keepAlive)
  })

  test('stops at the end of the last confirmed lease while a renewal waits, and is finished by another call', async () => {
    const renewals = { confirmed: 0, areAnswered: true }
    const unanswering: RunLog = {
      ...log,
      runs: {
        ...log.runs,
        renew(...lease) {
          if (!renewals.areAnswered) return new Promise(() => {})
          renewals.confirmed += 1
          return log.runs.renew(...lease)
        },
      },
    }
    const paid: number[] = []
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ cents: z.number() }),
      sideEffect: true,
      idempotent: false,
      onRetry: 'reuse',
      acceptsContext: true,
      execute: async ({ cents }) => paid.push(cents),
    })
    const pay = (cents: number): unknown =>
      charge.execute({ cents }, { toolCallId: `call-${cents}`, messages: [] })
    const { promise: refused, resolve: refuse } = Promise.withResolvers<unknown>()
    const workflow = smithers(() => (
      <Workflow name="deaf">
        <Task id="pay">
          {async ({ attempt, signal }) => {
            await pay(1)
            // More than the first lease has passed.
            const isLate = (): boolean => attempt > 1 || renewals.confirmed > 4
            await expect.poll(isLate, { interval: 5 }).toBe(true)
            await pay(2)
            if (attempt === 1) {
              renewals.areAnswered = false
              await new Promise((resolve) => signal.addEventListener('abort', resolve))
            }
            await Promise.resolve(pay(3)).catch(refuse)
          }}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', input: { file: '' } }
    const lost = runWorkflow(workflow, { ...options, log: unanswering, leaseMs: 60 })
    await expect(lost).rejects.toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    expect(await refused).toMatchObject({ code: 'TOOL_ABORTED', effect: 'none' })
    expect(paid).toEqual([1, 2])
    expect(await runWorkflow(workflow, { ...options, log })).toMatchObject({ status: 'finished' })
    expect(paid).toEqual([1, 2, 3])
  })

  async function hideHolder(): Promise<void> {
    for (const { leaseToken } of await log.runs.list({})) heldHere.delete(leaseToken ?? '')
  }

  test('keeps a run while its process lives, however late it is', async () => {
    const { promise: waiting, resolve: release } = Promise.withResolvers<void>()
    const workflow = smithers(() => (
      <Workflow name="late">
        <Task id="wait">{() => waiting}</Task>
      </Workflow>
    ))
    const run = runWorkflow(workflow, { runId: 'run-1', log, input: { file: '' } })
    await untilAttempts(1)
    const claim = {
      runId: 'run-1',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'elsewhere:1:1',
      leaseToken: 'theirs',
      leaseExpiresAtMs: Date.now() + 1e9,
      nowMs: Date.now() + 1e9,
    }
    expect((await log.runs.claim(claim)).ok).toBe(false)
    release()
    expect((await run).status).toBe('finished')
  })

  async function untilAttempts(count: number): Promise<void> {
    while ((await log.runs.attempts('run-1')).length < count) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

import assert from 'node:assert/strict'
import type { MaybePromise, ToolCallLog, ToolCallLogCapabilities } from '@smithers/tool-core/log'
import { approvalRow } from './sample-approval.ts'
import { ownerElsewhere } from './sample-owner.ts'
import { mustFinish, mustStart, sampleRow, sampleTimeMs, success } from './sample-row.ts'
import { attemptEnd, attemptStart, runClaim } from './sample-run.ts'

/** What another connection finds of an operation; anything else is damage. */
export type Found = 'done' | 'not done' | `${string}!`

/** A method whose answer or whose statement gets lost. Every trial has a name of its own, which is its run's too. */
export interface NetworkOperation {
  readonly name: string
  /** The adapter declares what is needed. */
  readonly needs?: keyof ToolCallLogCapabilities
  readonly prepare?: (log: ToolCallLog, trial: string) => Promise<unknown>
  readonly act: (log: ToolCallLog, trial: string) => MaybePromise<unknown>
  /** Throws for an answer that is not true of an operation that was done. */
  readonly expect: (answer: unknown, trial: string) => void
  readonly find: (log: ToolCallLog, trial: string) => Promise<Found>
}

const once = { durability: 'fsync', claim: 'once' } as const

const decision = { status: 'approved', decidedBy: 'Ada', decidedAtMs: sampleTimeMs } as const

export const networkOperations: readonly NetworkOperation[] = [
  {
    name: 'the start of a call',
    act: (log, trial) => log.start(startOf(trial), once),
    expect: (answer) => assert.deepEqual(answer, { ok: true }),
    find: async (log, trial) =>
      oneOf(await log.list({ runId: trial }), ({ status }) => status === 'started'),
  },
  {
    name: 'the end of a call',
    prepare: (log, trial) => mustStart(log, startOf(trial)),
    act: (log, trial) => log.finish(trial, success()),
    expect: (answer) => assert.equal(answer, 'ok'),
    async find(log, trial) {
      const rows = await log.list({ runId: trial })
      if (rows[0]?.status === 'started') return 'not done'
      return oneOf(rows, ({ outputJson }) => outputJson === success().outputJson)
    },
  },
  {
    name: 'a recovery',
    prepare: (log, trial) =>
      mustStart(log, { ...startOf(trial), ownerId: ownerElsewhere(), leaseExpiresAtMs: 1 }),
    act: (log) => log.recover({ nowMs: sampleTimeMs }),
    // An adapter may have marked it and not know.
    expect: (answer) => assert.ok(answer === 1 || answer === 0),
    async find(log, trial) {
      const rows = await log.list({ runId: trial })
      if (rows[0]?.status === 'started') return 'not done'
      return oneOf(rows, ({ status, effect }) => status === 'error' && effect === 'unknown')
    },
  },
  {
    name: 'a removal of old calls',
    async prepare(log, trial) {
      for (const seq of [1, 2, 3]) await mustFinish(log, { runId: trial, seq })
      await mustStart(log, { runId: trial, seq: 4 })
    },
    act: (log, trial) => log.prune({ runs: [trial] }),
    // What was removed without an answer may be missing in the count.
    expect: (answer) => assert.ok(typeof answer === 'number' && answer >= 0 && answer <= 3),
    async find(log, trial) {
      const seqs = (await log.list({ runId: trial })).map(({ seq }) => seq)
      if (seqs.length > 1 && seqs.includes(4)) return 'not done'
      return seqs.join() === '4' ? 'done' : `the calls ${seqs.join()} are left!`
    },
  },
  {
    name: 'a request for approval',
    needs: 'approvals',
    act: (log, trial) => log.approvals?.request(requestOf(trial)),
    expect: (answer, trial) => assert.deepEqual(answer, requestOf(trial)),
    find: async (log, trial) =>
      oneOf((await log.approvals?.list({ runId: trial })) ?? [], ({ id }) => id === trial),
  },
  {
    name: 'a decision',
    needs: 'approvals',
    prepare: async (log, trial) => log.approvals?.request(requestOf(trial)),
    act: (log, trial) => log.approvals?.update(trial, 'pending', decision),
    expect: (answer) => assert.equal(answer, true),
    async find(log, trial) {
      const rows = (await log.approvals?.list({ runId: trial })) ?? []
      if (rows[0]?.status === 'pending') return 'not done'
      return oneOf(rows, (row) => row.status === 'approved' && row.decidedBy === 'Ada')
    },
  },
  {
    name: 'a value of a run',
    needs: 'state',
    act: (log, trial) =>
      log.state?.set({ runId: trial, key: 'a', version: 1, valueJson: '1', updatedAtMs: 1 }),
    expect: (answer) => assert.equal(answer, true),
    find: async (log, trial) => {
      const entry = await log.state?.get(trial, 'a')
      return oneOf(entry === undefined ? [] : [entry], ({ version }) => version === 1)
    },
  },
  {
    name: 'the claim of a run',
    needs: 'runs',
    act: (log, trial) => log.runs?.claim(runClaim({ runId: trial, leaseToken: trial })),
    expect: (answer) => assert.ok((answer as { readonly ok: boolean }).ok),
    find: async (log, trial) =>
      oneOf((await log.runs?.list({ runId: trial })) ?? [], (run) => run.leaseToken === trial),
  },
  {
    name: 'the end of a task',
    needs: 'runs',
    async prepare(log, trial) {
      await log.runs?.claim(runClaim({ runId: trial, leaseToken: trial }))
      await log.runs?.startAttempt(attemptStart({ runId: trial, leaseToken: trial }))
    },
    act: (log, trial) => log.runs?.finishAttempt(attemptEnd({ runId: trial, leaseToken: trial })),
    expect: (answer) => assert.equal(answer, 'ok'),
    async find(log, trial) {
      const tasks = (await log.runs?.tasks(trial)) ?? []
      if (tasks[0]?.status === 'running') return 'not done'
      return oneOf(tasks, (task) => task.status === 'finished' && task.finishOrder === 1)
    },
  },
]

function startOf(trial: string): ReturnType<typeof sampleRow> {
  return sampleRow({ runId: trial, callToken: trial, idempotencyKey: trial })
}

function requestOf(trial: string): ReturnType<typeof approvalRow> {
  return approvalRow({ id: trial, runId: trial })
}

function oneOf<Row>(rows: readonly Row[], isRight: (row: Row) => boolean): Found {
  const [row] = rows
  if (row === undefined) return 'not done'
  return rows.length === 1 && isRight(row) ? 'done' : `there is ${JSON.stringify(rows)}!`
}

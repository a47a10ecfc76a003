import { createSqliteLog } from '@smithers/log-sqlite'
import type {
  ApprovalRow,
  StartRow,
  ToolCallLog,
  ToolCallQuery,
  ToolCallRow,
} from '@smithers/tool-core/log'
import { archiveKey, isSmithersError } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, succeeded } from './fixtures/call.ts'

const small = fc.integer({ min: 0, max: 3 })
const token = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const text = fc.constantFrom('x', 'X', '', '\0', '\uD800', '\uDC00', 'π')
const timeMs = fc.integer({ min: 0, max: 5 })

const startedRow: fc.Arbitrary<StartRow> = fc
  .record({
    callToken: token,
    runId: text,
    nodeId: text,
    iteration: fc.constantFrom(0, 1),
    attempt: fc.constantFrom(1, 2),
    seq: small,
    toolName: text,
    idempotencyKey: fc.option(text),
    toolCallId: fc.option(text),
    startedAtMs: timeMs,
    leaseExpiresAtMs: fc.option(timeMs),
  })
  .map((fields) => call(fields))

const query: fc.Arbitrary<ToolCallQuery> = fc.record(
  {
    runId: text,
    nodeId: text,
    iteration: fc.constantFrom(0, 1),
    attempt: fc.constantFrom(1, 2),
    beforeAttempt: fc.constantFrom(1, 2, 3),
    toolName: text,
    status: fc.constantFrom('started', 'success', 'error'),
    idempotencyKey: text,
    toolCallId: text,
    approvalId: token,
    startedFromMs: timeMs,
    startedBeforeMs: timeMs,
    limit: fc.constantFrom(-1, 0, 0.5, 1, 2, 5, Infinity),
    order: fc.constantFrom('ascending', 'descending'),
    after: fc.record({
      attempt: fc.constantFrom(1, 2),
      seq: small,
      startedAtMs: timeMs,
      callToken: token,
    }),
  },
  { requiredKeys: [] },
)

/** A method and what it is given. */
type Step = readonly [method: keyof typeof methods, ...unknown[]]

const methods = {
  start: (log) => log.start,
  finish: (log) => log.finish,
  renew: (log) => log.renew,
  list: (log) => log.list,
  recover: (log) => log.recover,
  prune: (log) => log.prune,
  ask: (log) => log.approvals?.request,
  decide: (log) => log.approvals?.update,
  approvals: (log) => log.approvals?.list,
  claimRun: (log) => log.runs?.claim,
  endRun: (log) => log.runs?.release,
  runs: (log) => log.runs?.list,
  set: (log) => log.state?.set,
  get: (log) => log.state?.get,
} as const satisfies Record<string, (log: ToolCallLog) => unknown>

function step<Given extends unknown[]>(
  weight: number,
  method: Step[0],
  ...given: { [Index in keyof Given]: fc.Arbitrary<Given[Index]> }
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.tuple(fc.constant(method), ...given) as fc.Arbitrary<Step> }
}

const startOptions = fc.record({
  durability: fc.constantFrom('fsync', 'relaxed'),
  claim: fc.constantFrom(null, 'inflight', 'once'),
  approvalId: fc.option(token),
})
const finishPatch = fc.record({
  ...Object.fromEntries(
    Object.entries(succeeded).map(([name, value]) => [name, fc.constant(value)]),
  ),
  status: fc.constantFrom('success', 'error'),
  effect: fc.constantFrom('none', 'applied', 'unknown'),
  replayOf: fc.option(token),
  finishedAtMs: timeMs,
  fromCache: fc.boolean(),
  outputExact: fc.boolean(),
  networkJson: text,
})
const recoverQuery = fc.record(
  { runId: text, nodeId: text, beforeAttempt: fc.constantFrom(1, 2, 3), nowMs: timeMs },
  { requiredKeys: ['nowMs'] },
)
const pruneQuery = fc.record(
  {
    finishedBeforeMs: timeMs,
    keepRuns: small,
    maxRows: small,
    runs: fc.array(text, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)

const unanswered: ApprovalRow = {
  id: '',
  runId: '',
  nodeId: 'n',
  iteration: 0,
  attempt: 1,
  toolName: 't',
  toolCallId: 'c',
  callKey: '',
  inputHash: '',
  idempotencyKey: null,
  inputJson: null,
  inputSchemaJson: null,
  prompt: null,
  defaultsJson: null,
  previewJson: null,
  status: 'pending',
  requestedAtMs: 0,
  expiresAtMs: null,
  decidedAtMs: null,
  decidedBy: null,
  comment: null,
  approvedArgsJson: null,
}
const statuses = fc.constantFrom('pending', 'approved', 'rejected', 'expired', 'used', 'superseded')
const approval = fc
  .record({ id: token, runId: text, callKey: text, inputHash: text, requestedAtMs: timeMs })
  .map((fields): ApprovalRow => ({ ...unanswered, ...fields }))
const answer = fc.record(
  {
    status: statuses,
    decidedAtMs: fc.option(timeMs),
    approvedArgsJson: fc.option(text),
    previewJson: fc.option(text),
  },
  { requiredKeys: ['status'] },
)
const approvalQuery = fc.record(
  { id: token, runId: text, callKey: text, status: statuses, limit: fc.constantFrom(1, 2) },
  { requiredKeys: [] },
)
const runClaim = fc.record({
  runId: text,
  inputJson: fc.constant('{}'),
  optionsJson: fc.constant('{}'),
  ownerId: fc.constant('elsewhere:1:1'),
  leaseToken: token,
  leaseExpiresAtMs: timeMs,
  nowMs: timeMs,
})
const runEnd = fc.record({
  runId: text,
  leaseToken: token,
  status: fc.constantFrom('finished', 'failed', 'stopped'),
  errorJson: fc.constant(null),
  nowMs: timeMs,
})
const stateKey = fc.oneof(text, token.map(archiveKey))
const stateEntry = fc.record({
  runId: text,
  key: stateKey,
  version: fc.constantFrom(1, 2),
  valueJson: text,
  updatedAtMs: timeMs,
})

const steps = fc.array(
  fc.oneof(
    step(6, 'start', startedRow, startOptions),
    step(4, 'finish', token, finishPatch),
    step(1, 'renew', token, timeMs),
    step(3, 'list', query),
    step(1, 'recover', recoverQuery),
    step(1, 'prune', pruneQuery),
    step(2, 'ask', approval),
    step(2, 'decide', token, statuses, answer),
    step(1, 'approvals', approvalQuery),
    step(1, 'claimRun', runClaim),
    step(1, 'endRun', runEnd),
    step(1, 'runs', fc.constant({})),
    step(2, 'set', stateEntry),
    step(1, 'get', text, stateKey),
  ),
  { maxLength: 60, size: 'max' },
)

describe('createSqliteLog', () => {
  it('answers any sequence of calls as the log in memory does, and holds the same rows after it', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const memory = createMemoryLog()
        const sqlite = createSqliteLog({ path: ':memory:' })
        for (const one of taken) expect(answerOf(sqlite, one)).toEqual(answerOf(memory, one))
        expect(sorted(sqlite.list({}))).toEqual(sorted(memory.snapshot()))
        expect(sqlite.approvals?.list({})).toEqual(memory.approvals.list({}))
        void sqlite.close()
      }),
      { numRuns: 300 },
    )
  })
})

/** What a step returns or how it fails; which of two conflicts is reported first is left to the adapter. */
function answerOf(log: ToolCallLog, [method, ...given]: Step): unknown {
  try {
    // Every question has an id of its own.
    if (method === 'ask' && idExists(log, given[0] as ApprovalRow)) return 'refused'
    const result = (methods[method](log) as (...values: unknown[]) => unknown)(...given)
    const refused = typeof result === 'object' && result !== null && 'ok' in result && !result.ok
    return refused ? 'refused' : result
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') return 'refused'
    throw error
  }
}

function idExists(log: ToolCallLog, { id }: ApprovalRow): boolean {
  const found = log.approvals?.list({ id }) as ApprovalRow[] | undefined
  return found !== undefined && found.length > 0
}

function sorted(rows: unknown): ToolCallRow[] {
  return (rows as ToolCallRow[]).toSorted((a, b) => (a.callToken < b.callToken ? -1 : 1))
}

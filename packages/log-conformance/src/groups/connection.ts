import assert from 'node:assert/strict'
import type { MaybePromise, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import { type BreakableConnection, openBreakableConnection } from '../breakable-connection.ts'
import type { ConformanceGroup, ConformanceTest } from '../conformance-group.ts'
import type { NetworkHooks } from '../conformance-options.ts'
import { type NetworkOperation, networkOperations } from '../network-operation.ts'
import { mustStart, sampleRow, settled, success } from '../sample-row.ts'

/** Two ways to one location. */
interface Stage {
  /** The log whose connection breaks. */
  readonly log: ToolCallLog
  /** One whose connection does not. */
  readonly other: ToolCallLog
  readonly connection: BreakableConnection
  /** Waits for a method, and fails when it takes longer than a method of the adapter may. */
  readonly inTime: <T>(name: string, method: () => MaybePromise<T>) => Promise<T>
  /** Opens the log once more over the connection that breaks. */
  readonly openAnother: () => Promise<ToolCallLog>
}

const fsync = { durability: 'fsync', claim: null } as const

export const connection: ConformanceGroup = {
  title: '22 connection',
  notApplicable: ({ network }) =>
    network === undefined ? 'the adapter names no network that can break' : null,
  tests: [
    ...networkOperations.flatMap((operation) => [lostAnswer(operation), lostStatement(operation)]),
    {
      name: 'without a connection every method fails in time, and the log works once there is one again',
      run: onStage(async (stage) => {
        const { log, connection: network, inTime, openAnother } = stage
        const open = await mustStart(log, { seq: 1 })
        network.cut()
        await failInTime(stage, open)
        await inTime('opening', () => assertUnavailable(async () => (await openAnother()).list({})))
        network.heal()
        await worksAgain(stage, open)
      }),
    },
    {
      name: 'over a connection that is frozen every method fails in time, and what arrives late is stored once',
      run: onStage(async (stage) => {
        const open = await mustStart(stage.log, { seq: 1 })
        stage.connection.freeze()
        await failInTime(stage, open)
        stage.connection.heal()
        await worksAgain(stage, open)
      }),
    },
    {
      name: 'a start that arrives after the next attempt has begun is refused',
      notApplicable: ({ capabilities }) =>
        capabilities.attempts === true ? null : 'the adapter declares no attempts',
      run: onStage(async ({ log, other, connection: network, inTime }) => {
        const { runId, nodeId, iteration } = sampleRow()
        const begin = (attempt: number): MaybePromise<unknown> =>
          other.beginAttempt?.({ runId, nodeId, iteration, attempt })
        await begin(1)
        network.freeze()
        const starting = settled(() => log.start(sampleRow(), fsync))
        await begin(2)
        network.heal()
        const answer = await inTime('start', () => starting)
        assert.deepEqual(answer, { ok: false, reason: 'superseded' })
        assert.deepEqual(await other.list({}), [])
      }),
    },
  ],
}

function onStage(work: (stage: Stage) => Promise<void>): ConformanceTest['run'] {
  return async (workbench) => {
    const hooks = workbench.options.network as NetworkHooks
    const network = await openBreakableConnection(hooks.server)
    const openAnother = async (): Promise<ToolCallLog> =>
      workbench.track(await hooks.openThrough(network.port, workbench.location))
    try {
      const other = await workbench.open()
      const log = await openAnother()
      await work({ log, other, connection: network, openAnother, inTime: limitedBy(hooks) })
      network.heal()
      await log.close()
    } finally {
      await network.close()
    }
  }
}

function limitedBy({ longestWaitMs = 30_000 }: NetworkHooks): Stage['inTime'] {
  return async (name, method) => {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      const message = `${name} has not ended after ${longestWaitMs} ms`
      timer = setTimeout(() => reject(new assert.AssertionError({ message })), longestWaitMs)
    })
    try {
      return await Promise.race([settled(method), tooLate])
    } finally {
      clearTimeout(timer)
    }
  }
}

function lostAnswer(operation: NetworkOperation): ConformanceTest {
  return {
    ...of(operation),
    name: `${operation.name} whose answer is lost is there once, and no answer denies it`,
    run: onStage(async (stage) => {
      // The server may answer in several pieces: each is lost once.
      for (let nth = 1; nth <= mostAnswers; nth += 1) {
        const lose = (): void => stage.connection.loseAnswer(nth)
        const { wasLost, hasAnswered, found } = await losing(stage, operation, lose, `run-${nth}`)
        assert.ok(wasLost || nth > 1, 'the method asked the server for nothing')
        if (!wasLost) break
        // A method of several statements may have done the first of them.
        assert.ok(found === 'done' || (!hasAnswered && nth > 1), `${operation.name}: ${found}`)
      }
    }),
  }
}

function lostStatement(operation: NetworkOperation): ConformanceTest {
  return {
    ...of(operation),
    name: `${operation.name} that is lost on its way is not said to be there unless it is`,
    run: onStage(async (stage) => {
      const lose = (): void => stage.connection.loseStatement()
      const { wasLost, hasAnswered, found } = await losing(stage, operation, lose, 'run-1')
      assert.ok(wasLost, 'the method sent the server nothing')
      assert.ok(found === 'done' || (found === 'not done' && !hasAnswered), found)
    }),
  }
}

/** Does it while something is lost. A method answers what is true, or fails and does not say that nothing was stored. */
async function losing(
  { log, other, connection: network, inTime }: Stage,
  { name, prepare, act, expect, find }: NetworkOperation,
  lose: () => void,
  trial: string,
): Promise<{ wasLost: boolean; hasAnswered: boolean; found: string }> {
  await prepare?.(log, trial)
  // Has a connection now, so that the method needs none.
  await log.list({ limit: 1 })
  lose()
  let hasAnswered = true
  await inTime(name, async () => {
    let answer: unknown
    try {
      answer = await act(log, trial)
    } catch (error) {
      hasAnswered = false
      const { effect } = await assertUnavailable(() => Promise.reject(error))
      assert.notEqual(effect, 'none')
      return
    }
    expect(answer, trial)
  })
  const wasLost = network.lost() > 0
  network.heal()
  const found = await find(other, trial)
  assert.match(found, /^(done|not done)$/)
  // The log that lost it sees the same.
  assert.equal(await inTime('a look', () => find(log, trial)), found)
  return { wasLost, hasAnswered, found }
}

/** Calls methods of each kind at once. */
async function failInTime({ log, inTime }: Stage, open: string): Promise<void> {
  const methods: readonly (readonly [string, () => MaybePromise<unknown>])[] = [
    [
      'start',
      () => log.start(sampleRow({ seq: 2, callToken: 'late', idempotencyKey: 'k' }), fsync),
    ],
    ['finish', () => log.finish(open, success())],
    ['renew', () => log.renew(open, Number.MAX_SAFE_INTEGER)],
    ['list', () => log.list({})],
    ['recover', () => log.recover({ nowMs: 1 })],
    ['prune', () => log.prune({ finishedBeforeMs: 1 })],
  ]
  await Promise.all(
    methods.map(async ([name, method]) => {
      const { effect } = await inTime(name, () => assertUnavailable(method))
      assert.notEqual(effect, 'none', `${name} says that nothing was stored, and cannot know`)
    }),
  )
}

/** The same log goes on. What failed without an answer is stored once or not at all. */
async function worksAgain({ log, other, inTime }: Stage, open: string): Promise<void> {
  const next = await inTime('the next start', () => mustStart(log, { seq: 3 }))
  assert.match(await inTime('a finish', () => log.finish(open, success())), /^(ok|fenced)$/)
  assert.equal(await inTime('the next finish', () => log.finish(next, success())), 'ok')
  const rows = await other.list({})
  const tokens = rows.map(({ callToken }) => callToken)
  assert.deepEqual(
    tokens.filter((token) => token !== 'late'),
    [open, next],
  )
  assert.ok(tokens.filter((token) => token === 'late').length <= 1)
  const ended = rows.filter(({ callToken }) => callToken !== 'late')
  for (const { status, outputJson } of ended) {
    assert.deepEqual([status, outputJson], ['success', success().outputJson])
  }
}

function of({ needs }: NetworkOperation): Pick<ConformanceTest, 'notApplicable'> {
  if (needs === undefined) return {}
  return {
    notApplicable: ({ capabilities }) =>
      capabilities[needs] === true ? null : `the adapter does not declare ${needs}`,
  }
}

const mostAnswers = 50

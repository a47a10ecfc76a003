import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  StartOptions,
  StartResult,
  StartRow,
  ToolCallClaim,
  ToolCallLog,
} from '@smithers/tool-core/log'
import type { ConformanceGroup, Workbench } from '../conformance-group.ts'
import { runChildrenTogether } from '../run-child.ts'
import { failure, mustStart, sampleRow, sampleTimeMs, settled, success } from '../sample-row.ts'

const key = 'key-1'
const kinds = ['inflight', 'once'] as const

export const claims: ConformanceGroup = {
  title: '4 claims',
  notApplicable: ({ capabilities }) =>
    capabilities.claims ? null : 'the adapter declares claims: false',
  tests: [
    {
      name: 'a key in flight is claimed by one call; the other is told of the row and leaves none',
      async run({ open }) {
        const log = await open()
        for (const held of kinds) {
          for (const wanted of kinds) {
            const runId = `${held}-${wanted}`
            const callToken = await mustStart(
              log,
              { runId, idempotencyKey: runId },
              { claim: held },
            )
            const result = await tryStart(log, { runId, seq: 2, idempotencyKey: runId }, wanted)
            assert.ok(
              !result.ok && result.reason === 'claimed',
              `${wanted} beside ${held}: accepted`,
            )
            const rows = await log.list({ runId })
            assert.deepEqual(rows, [result.existing])
            assert.partialDeepStrictEqual(rows[0], { callToken, status: 'started', claim: held })
          }
        }
      },
    },
    {
      name: 'a refused call can be started later with the same token and seq',
      async run({ open }) {
        const log = await open()
        const holder = await mustStart(log, { idempotencyKey: key }, { claim: 'inflight' })
        const row = sampleRow({ seq: 2, idempotencyKey: key })
        const options = { durability: 'relaxed', claim: 'inflight' } as const
        assert.equal((await log.start(row, options)).ok, false)
        await log.finish(holder, success())
        assert.equal((await log.start(row, options)).ok, true)
      },
    },
    {
      name: 'an error releases the key, whatever the claim',
      async run({ open }) {
        const log = await open()
        for (const claim of kinds) {
          const holder = await mustStart(
            log,
            { runId: claim, idempotencyKey: claim },
            { claim: claim },
          )
          await log.finish(holder, failure({ effect: 'unknown' }))
          assert.equal(
            (await tryStart(log, { runId: claim, seq: 2, idempotencyKey: claim }, claim)).ok,
            true,
          )
        }
      },
    },
    {
      name: 'a success releases the key of an "inflight" claim and keeps that of a "once" claim for good',
      async run({ open }) {
        const log = await open()
        const inflight = await mustStart(
          log,
          { runId: 'i', idempotencyKey: 'i' },
          { claim: 'inflight' },
        )
        await log.finish(inflight, success())
        assert.equal(
          (await tryStart(log, { runId: 'i', seq: 2, idempotencyKey: 'i' }, 'inflight')).ok,
          true,
        )

        const once = await mustStart(log, { runId: 'o', idempotencyKey: 'o' }, { claim: 'once' })
        await log.finish(once, success())
        const again = await tryStart(log, { runId: 'o', seq: 2, idempotencyKey: 'o' }, 'once')
        assert.ok(
          !again.ok && again.reason === 'claimed',
          'a key that succeeded once was claimed again',
        )
        assert.partialDeepStrictEqual(again.existing, {
          callToken: once,
          status: 'success',
          outputJson: success().outputJson,
        })
      },
    },
    {
      name: 'a key that a call used which the caller does not know is claimed, until it is known',
      async run({ open }) {
        const log = await open()
        for (const claim of kinds) {
          const at = { runId: claim, idempotencyKey: claim }
          const first = await mustStart(log, at, { claim: 'inflight' })
          await log.finish(first, success())
          await assertNews(log, { ...at, seq: 2 }, { claim, known: [] }, first)
          await assertNews(log, { ...at, seq: 2 }, { claim, known: ['another'] }, first)

          const known = { claim, known: [first] }
          const second = await mustStart(log, { ...at, seq: 2 }, known)
          await log.finish(second, failure({ effect: 'unknown' }))
          await assertNews(log, { ...at, seq: 3 }, known, second)
        }
      },
    },
    {
      name: 'calls that certainly had no effect, had no claim or another key are no news',
      async run({ open }) {
        const log = await open()
        const failed = await mustStart(log, { seq: 1, idempotencyKey: key }, { claim: 'inflight' })
        await log.finish(failed, failure({ effect: 'none' }))
        const unclaimed = await mustStart(log, { seq: 2, idempotencyKey: key })
        await log.finish(unclaimed, success())
        const other = await mustStart(log, { seq: 3, idempotencyKey: 'k' }, { claim: 'inflight' })
        await log.finish(other, success())
        await mustStart(log, { seq: 4, idempotencyKey: key }, { claim: 'inflight', known: [] })
      },
    },
    {
      name: 'a call without a claim is never blocked and blocks no other',
      async run({ open }) {
        const log = await open()
        await mustStart(log, { seq: 1, idempotencyKey: key }, { claim: null })
        await mustStart(log, { seq: 2, idempotencyKey: key }, { claim: 'once' })
        await mustStart(log, { seq: 3, idempotencyKey: key }, { claim: null })
        assert.equal((await log.list({ idempotencyKey: key })).length, 3)
      },
    },
    {
      name: 'other keys are independent, and a claim without a key claims nothing',
      async run({ open }) {
        const log = await open()
        for (const [seq, idempotencyKey] of ['a', 'A', '', null, null].entries()) {
          await mustStart(log, { seq, idempotencyKey }, { claim: 'once' })
        }
        assert.equal((await log.list({})).length, 5)
      },
    },
    {
      name: 'a claim whose lease has ended stays claimed until recover has marked its outcome unknown',
      async run({ open }) {
        const log = await open()
        for (const claim of kinds) {
          const at = { runId: claim, idempotencyKey: claim }
          const stale = await mustStart(
            log,
            { ...at, leaseExpiresAtMs: sampleTimeMs + 10 },
            { claim: claim },
          )
          const later = { ...at, seq: 2, startedAtMs: sampleTimeMs + 20 }
          assert.equal((await tryStart(log, later, claim)).ok, false, 'start took the claim over')

          assert.equal(await log.recover({ runId: claim, nowMs: sampleTimeMs + 20 }), 1)
          const owner = await mustStart(log, later, { claim })
          assert.equal(await log.finish(stale, success()), 'fenced')
          assert.equal(await log.finish(owner, success()), 'ok')
          assert.deepEqual(
            (await log.list({ runId: claim })).map(({ status, effect }) => [status, effect]),
            [
              ['error', 'unknown'],
              ['success', 'applied'],
            ],
          )
        }
      },
    },
    {
      name: 'eight workers that all try a hundred keys make exactly a hundred effects',
      async run({ open }) {
        const log = await open()
        const effects: string[] = []
        const worker = async (number: number): Promise<void> => {
          for (let index = 1; index <= 100; index += 1) {
            await runOnce(
              log,
              { nodeId: `worker-${number}`, seq: index, idempotencyKey: `key-${index}` },
              () => effects.push(`key-${index}`),
            )
          }
        }
        await Promise.all(Array.from({ length: 8 }, (_, index) => worker(index)))
        assertEachOnce(effects, 100)
      },
    },
    {
      name: 'eight processes that all try a hundred keys make exactly a hundred effects',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess ? null : 'the adapter declares multiProcess: false',
      async run(workbench) {
        const effectsFile = join(workbench.folder, 'effects')
        await runChildrenTogether(
          workbench.options,
          Array.from({ length: 8 }, (_, worker) => ({
            kind: 'claims' as const,
            by: 'key' as const,
            location: workbench.location,
            worker,
            keys: 100,
            effectsFile,
          })),
        )
        const effects = (await readFile(effectsFile, 'utf8')).trimEnd().split('\n')
        assertEachOnce(effects, 100)
        await assertOneSuccessAKey(workbench)
      },
    },
  ],
}

function tryStart(
  log: ToolCallLog,
  fields: Partial<StartRow>,
  claim: ToolCallClaim,
): Promise<StartResult> {
  return settled(() => log.start(sampleRow(fields), { durability: 'relaxed', claim }))
}

async function assertNews(
  log: ToolCallLog,
  fields: Partial<StartRow>,
  options: Pick<StartOptions, 'claim' | 'known'>,
  callToken: string,
): Promise<void> {
  const before = await log.list({})
  const result = await settled(() =>
    log.start(sampleRow(fields), { durability: 'relaxed', ...options }),
  )
  assert.ok(!result.ok && result.reason === 'claimed', 'a call that was not known was passed over')
  assert.equal(result.existing.callToken, callToken)
  assert.deepEqual(await log.list({}), before)
}

/** Far beyond what a holder needs, also one that a busy machine lets wait. */
const longestHoldMs = 20_000

/** Runs a key's effect unless another call has, as a call with a `'once'` claim does. */
async function runOnce(
  log: ToolCallLog,
  fields: Partial<StartRow>,
  effect: () => unknown,
): Promise<void> {
  const row = sampleRow({ ...fields, leaseExpiresAtMs: Number.MAX_SAFE_INTEGER })
  const deadline = performance.now() + longestHoldMs
  for (;;) {
    const result = await log.start(row, { durability: 'relaxed', claim: 'once' })
    if (result.ok) {
      effect()
      await nextTurn()
      await log.finish(row.callToken, success())
      return
    }
    assert.equal(result.reason, 'claimed')
    if (result.existing.status === 'success') return
    // A log that loses the end of a call must fail, not hang.
    assert.ok(
      performance.now() < deadline,
      `${row.idempotencyKey} is still in flight after ${longestHoldMs} ms, in no call`,
    )
    await nextTurn()
  }
}

function assertEachOnce(effects: readonly string[], keys: number): void {
  const expected = Array.from({ length: keys }, (_, index) => `key-${index + 1}`)
  assert.equal(effects.length, keys, `${effects.length} effects for ${keys} keys`)
  assert.deepEqual(new Set(effects), new Set(expected))
}

async function assertOneSuccessAKey({ open }: Workbench): Promise<void> {
  const log = await open()
  const rows = await log.list({ limit: 10_000 })
  assert.deepEqual(
    rows.map(({ status }) => status),
    Array.from({ length: 100 }, () => 'success'),
  )
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { RunStore, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import type { ConformanceGroup } from '../conformance-group.ts'
import { runChildrenTogether } from '../run-child.ts'
import { ownerElsewhere } from '../sample-owner.ts'
import { sampleTimeMs, settled } from '../sample-row.ts'
import { attemptEnd, attemptStart, runClaim } from '../sample-run.ts'

/** The runs of a log that declares them. */
export function runsOf(log: ToolCallLog): RunStore {
  assert.ok(log.runs, 'the log declares runs and has none')
  return log.runs
}

export const withoutRuns: NonNullable<ConformanceGroup['notApplicable']> = ({ capabilities }) =>
  capabilities.runs === true ? null : 'the adapter declares no runs'

/** What a log knows of a run. */
export async function recordOf(runs: RunStore, runId = 'run-1'): Promise<unknown> {
  return [
    await runs.list({ runId }),
    await runs.tasks(runId),
    await runs.attempts(runId),
    await runs.loops(runId),
  ]
}

export const createRuns: ConformanceGroup = {
  title: '15 runs: create',
  notApplicable: withoutRuns,
  tests: [
    {
      name: 'a claimed run comes back as it was created: empty, Unicode, NUL, lone surrogates, null',
      async run({ open }) {
        const runs = runsOf(await open())
        for (const runId of ['plain', 'a\0b', '\uD800', "'; DROP TABLE runs; --", '\u{1f600}']) {
          const claim = runClaim({ runId, inputJson: null, optionsJson: '"π\\ud800"' })
          const { ownerId, leaseToken, leaseExpiresAtMs, optionsJson } = claim
          const run = {
            runId,
            workflow: null,
            status: 'running',
            inputJson: null,
            optionsJson,
            errorJson: null,
            startedAtMs: sampleTimeMs,
            finishedAtMs: null,
            ownerId,
            leaseToken,
            leaseExpiresAtMs,
          }
          assert.deepEqual(await runs.claim(claim), { ok: true, created: true, run })
          assert.deepEqual(await runs.list({ runId }), [run])
        }
      },
    },
    {
      name: 'the newest runs are listed first, up to the limit',
      async run({ open }) {
        const runs = runsOf(await open())
        for (const runId of ['a', 'b', 'c', 'd']) await runs.claim(runClaim({ runId }))
        const ids = async (query: Parameters<RunStore['list']>[0]): Promise<string[]> =>
          (await runs.list(query)).map(({ runId }) => runId)
        assert.deepEqual(await ids({}), ['d', 'c', 'b', 'a'])
        assert.deepEqual(await ids({ limit: 2 }), ['d', 'c'])
        assert.deepEqual(await ids({ runId: 'b' }), ['b'])
        assert.deepEqual(await ids({ runId: 'none' }), [])
      },
    },
    {
      name: 'a closed log refuses runs with TOOL_LOG_UNAVAILABLE',
      async run({ open }) {
        const log = await open()
        const runs = runsOf(log)
        await log.close()
        await assertUnavailable(() => runs.claim(runClaim()))
        await assertUnavailable(() => runs.list({}))
        await assertUnavailable(() => runs.tasks('run-1'))
      },
    },
  ],
}

export const runLeases: ConformanceGroup = {
  title: '16 runs: lease',
  notApplicable: withoutRuns,
  tests: [
    {
      name: 'a leased run is refused, and stays as it is',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        const before = await recordOf(runs)
        const refused = await runs.claim(runClaim({ leaseToken: 'two', inputJson: '{}' }))
        assert.equal(refused.ok, false)
        assert.equal(refused.run.leaseToken, 'one')
        assert.deepEqual(await recordOf(runs), before)
      },
    },
    {
      name: 'a renewed lease holds the run beyond its first end',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one', leaseExpiresAtMs: sampleTimeMs + 10 }))
        assert.equal(await runs.renew('run-1', 'one', sampleTimeMs + 50), 'ok')
        const early = await runs.claim(runClaim({ leaseToken: 'two', nowMs: sampleTimeMs + 49 }))
        assert.equal(early.ok, false)
        const late = await runs.claim(runClaim({ leaseToken: 'two', nowMs: sampleTimeMs + 50 }))
        assert.equal(late.ok, true)
      },
    },
    {
      name: 'a run of another machine with the name of this host is refused until its lease ends',
      async run({ open }) {
        const runs = runsOf(await open())
        const ownerId = ownerElsewhere()
        await runs.claim(runClaim({ ownerId, leaseExpiresAtMs: sampleTimeMs + 10 }))
        const early = await runs.claim(runClaim({ nowMs: sampleTimeMs + 9 }))
        assert.equal(early.ok, false)
        const late = await runs.claim(runClaim({ nowMs: sampleTimeMs + 10 }))
        assert.equal(late.ok, true)
      },
    },
    {
      name: 'of many that claim a run at once one holds it',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        const claims = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            settled(() => runsOf(logs[index % logs.length] ?? first).claim(runClaim())),
          ),
        )
        assert.equal(claims.filter(({ ok }) => ok).length, 1)
      },
    },
    {
      name: 'four processes that claim fifty runs hold each once',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess ? null : 'the adapter declares multiProcess: false',
      async run({ open, options, location, folder }) {
        await open()
        const heldFile = join(folder, 'held')
        const job = {
          kind: 'claim-runs' as const,
          location,
          runs: 50,
          ownerId: currentOwnerId(),
          heldFile,
        }
        await runChildrenTogether(options, [job, job, job, job])
        const held = readFileSync(heldFile, 'utf8').trimEnd().split('\n')
        assert.equal(held.length, 50)
        assert.equal(new Set(held).size, 50)
      },
    },
  ],
}

export const takeOvers: ConformanceGroup = {
  title: '17 runs: take over',
  notApplicable: withoutRuns,
  tests: [
    ...(
      [
        ['whose lease has expired', {}, { nowMs: sampleTimeMs + 60_000 }],
        ['whose owner is dead', { ownerId: currentOwnerId().replace(/\d+:\d+$/, '1:1') }, {}],
      ] as const
    ).map(([which, holding, taking]) => ({
      name: `a run ${which} is taken over with its input, and its running work is interrupted`,
      async run({ open }: Parameters<ConformanceGroup['tests'][number]['run']>[0]) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one', ...holding }))
        await runs.startAttempt(attemptStart({ nodeId: 'done' }))
        await runs.finishAttempt(attemptEnd({ nodeId: 'done' }))
        await runs.startAttempt(attemptStart({ nodeId: 'cut off' }))
        const claim = runClaim({ leaseToken: 'two', inputJson: '{"other":1}', optionsJson: '2' })
        const taken = await runs.claim({ ...claim, ...taking })
        assert.ok(taken.ok)
        assert.equal(taken.created, false)
        const { inputJson, optionsJson, leaseToken, status } = taken.run
        const input = runClaim().inputJson
        assert.deepEqual(
          [inputJson, optionsJson, leaseToken, status],
          [input, '2', 'two', 'running'],
        )
        for (const rows of [await runs.tasks('run-1'), await runs.attempts('run-1')]) {
          assert.deepEqual(
            rows.map((row) => row.status),
            ['finished', 'interrupted'],
          )
        }
      },
    })),
    {
      name: 'an input that could not be recorded is filled in by the next holder',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one', inputJson: null }))
        const taken = await runs.claim(runClaim({ inputJson: '2', nowMs: sampleTimeMs + 60_000 }))
        assert.equal(taken.run.inputJson, '2')
      },
    },
    {
      name: 'every write of a process that has lost the run is refused and changes nothing',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        await runs.startAttempt(attemptStart())
        const taking = { nowMs: sampleTimeMs + 60_000, leaseExpiresAtMs: sampleTimeMs + 120_000 }
        await runs.claim(runClaim({ leaseToken: 'two', ...taking }))
        const before = await recordOf(runs)
        const end = {
          runId: 'run-1',
          leaseToken: 'one',
          status: 'failed',
          errorJson: null,
        } as const
        const loop = { runId: 'run-1', loopId: 'l', iteration: 1, finished: false }
        const answers = [
          await runs.renew('run-1', 'one', sampleTimeMs + 999_999),
          await runs.nameWorkflow('run-1', 'one', 'stolen'),
          await runs.startAttempt(attemptStart({ attempt: 2 })),
          await runs.finishAttempt(attemptEnd()),
          await runs.saveLoop(loop, 'one'),
          await runs.release({ ...end, nowMs: sampleTimeMs + 70_000 }),
        ]
        assert.deepEqual(new Set(answers), new Set(['lost']))
        assert.deepEqual(await recordOf(runs), before)
      },
    },
  ],
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FinishPatch, StartResult } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { runChildrenTogether } from '../run-child.ts'
import { failure, mustStart, sampleRow, settled, success } from '../sample-row.ts'

const endings: readonly (readonly [ending: string, patch: FinishPatch, uses: boolean])[] = [
  ['succeeded', success(), true],
  ['succeeded without an effect', success({ effect: 'none' }), true],
  ['failed with an unknown outcome', failure({ effect: 'unknown' }), true],
  ['failed after its effect', failure({ effect: 'applied' }), true],
  ['failed without an effect', failure({ effect: 'none' }), false],
  ['was answered from another row', success({ effect: 'none', replayOf: 'other' }), false],
]

export const approvalUse: ConformanceGroup = {
  title: '14 approval use',
  notApplicable: ({ capabilities }) =>
    capabilities.approvals === true ? null : 'the adapter declares no approvals',
  tests: [
    {
      name: 'a running row uses its approval: a second start with it is refused and not stored',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log, {}, { approvalId: 'a' })
        const second = sampleRow({ seq: 2 })
        const options = { durability: 'relaxed', claim: null, approvalId: 'a' } as const
        const refused = await log.start(second, options)
        assert.deepEqual(briefly(refused), ['approval-used', callToken])
        assert.deepEqual(await log.list({ callToken: second.callToken }), [])
        await mustStart(log, { seq: 3 }, { approvalId: 'b' })
        await mustStart(log, { seq: 4 })
        await mustStart(log, { seq: 5 })
      },
    },
    ...endings.map(([ending, patch, uses]) => ({
      name: `a row that ${ending} ${uses ? 'has used its approval' : 'leaves its approval unused'}`,
      async run({ open }: Parameters<ConformanceGroup['tests'][number]['run']>[0]) {
        const log = await open()
        const first = await mustStart(log, {}, { approvalId: 'a' })
        await log.finish(first, patch)
        const next = sampleRow({ seq: 2 })
        const options = { durability: 'relaxed', claim: null, approvalId: 'a' } as const
        const result = await log.start(next, options)
        assert.deepEqual(briefly(result), uses ? ['approval-used', first] : ['ok'])
      },
    })),
    {
      name: 'rows are listed by their approval, and say which it is',
      async run({ open }) {
        const log = await open()
        const first = await mustStart(log, {}, { approvalId: 'a\0\uD800' })
        await log.finish(first, failure({ effect: 'none' }))
        const second = await mustStart(log, { seq: 2 }, { approvalId: 'a\0\uD800' })
        await mustStart(log, { seq: 3 }, { approvalId: 'b' })
        await mustStart(log, { seq: 4 })
        const rows = await log.list({ approvalId: 'a\0\uD800' })
        assert.deepEqual(
          rows.map((row) => [row.callToken, row.approvalId]),
          [
            [first, 'a\0\uD800'],
            [second, 'a\0\uD800'],
          ],
        )
        const all = await log.list({})
        assert.deepEqual(
          all.map(({ approvalId }) => approvalId ?? null),
          ['a\0\uD800', 'a\0\uD800', 'b', null],
        )
      },
    },
    {
      name: 'of many starts with one approval at once one is stored',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        const results = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            settled(() =>
              (logs[index % logs.length] ?? first).start(sampleRow({ seq: index + 1 }), {
                durability: 'relaxed',
                claim: null,
                approvalId: 'a',
              }),
            ),
          ),
        )
        assert.equal(results.filter(({ ok }) => ok).length, 1)
        assert.equal((await first.list({})).length, 1)
      },
    },
    {
      name: 'eight processes that all try fifty approvals run fifty calls',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess ? null : 'the adapter declares multiProcess: false',
      async run({ open, options, location, folder }) {
        await open()
        const effectsFile = join(folder, 'effects')
        const jobs = Array.from({ length: 8 }, (_, worker) => ({
          kind: 'claims' as const,
          by: 'approval' as const,
          location,
          worker,
          keys: 50,
          effectsFile,
        }))
        await runChildrenTogether(options, jobs)
        const effects = readFileSync(effectsFile, 'utf8').trimEnd().split('\n')
        assert.equal(effects.length, 50)
        assert.equal(new Set(effects).size, 50)
      },
    },
  ],
}

function briefly(result: StartResult): readonly string[] {
  if (result.ok) return ['ok']
  return 'existing' in result ? [result.reason, result.existing.callToken] : [result.reason]
}

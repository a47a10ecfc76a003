import assert from 'node:assert/strict'
import type { ConformanceGroup } from '../conformance-group.ts'
import { runChild, runChildrenTogether } from '../run-child.ts'
import { sampleRow } from '../sample-row.ts'

const processes = 4
const pairs = 500

export const multiProcess: ConformanceGroup = {
  title: '7 multi-process',
  notApplicable: ({ capabilities }) =>
    capabilities.multiProcess ? null : 'the adapter declares multiProcess: false',
  tests: [
    {
      name: `${processes} processes that make ${pairs} calls each meet no error and lose no row`,
      async run({ open, location, options }) {
        const jobs = Array.from({ length: processes }, (_, index) => ({
          kind: 'pairs' as const,
          location,
          pairs,
          nodeId: `node-${index}`,
        }))
        const answers = await runChildrenTogether(options, jobs)
        assert.deepEqual(
          answers.flatMap(({ errors }) => errors),
          [],
        )

        const log = await open()
        for (const { nodeId } of jobs) {
          const rows = await log.list({ runId: 'run-1', nodeId, iteration: 0 })
          assert.deepEqual(
            rows.map(({ seq, status }) => [seq, status]),
            Array.from({ length: pairs }, (_, index) => [index + 1, 'success']),
          )
        }
      },
    },
    {
      name: 'a process sees the rows that another has written, and its claims',
      async run({ open, location, options }) {
        const log = await open()
        assert.deepEqual(await log.list({}), [])
        await runChild(options, { kind: 'first-call', location, nodeId: 'other-process' })
        const rows = await log.list({})
        assert.deepEqual(
          rows.map(({ nodeId }) => nodeId),
          ['other-process'],
        )
        if (!options.capabilities.claims) return
        const result = await log.start(sampleRow({ idempotencyKey: 'other-process' }), {
          durability: 'relaxed',
          claim: 'inflight',
        })
        assert.deepEqual(result, { ok: false, reason: 'claimed', existing: rows[0] })
      },
    },
  ],
}

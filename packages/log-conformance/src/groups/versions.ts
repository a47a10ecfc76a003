import assert from 'node:assert/strict'
import type { ConformanceGroup } from '../conformance-group.ts'
import { approvalRow } from '../sample-approval.ts'
import { mustStart, sampleTimeMs, success } from '../sample-row.ts'
import { runClaim } from '../sample-run.ts'
import { browsable, withoutBrowsing } from './browsable.ts'

export const versions: ConformanceGroup = {
  title: '24 version',
  notApplicable: withoutBrowsing,
  tests: [
    {
      name: 'the version differs after each change, and stays the same while nothing changes',
      async run({ open }) {
        const log = await browsable(open)
        const seen = new Set([await log.version()])
        const differs = async (change: string): Promise<void> => {
          const version = await log.version()
          assert.ok(!seen.has(version), `the version is the same after ${change}`)
          seen.add(version)
        }
        const token = await mustStart(log)
        await differs('start')
        await log.renew(token, sampleTimeMs + 1)
        await differs('renew')
        await log.finish(token, success())
        await differs('finish')
        if (log.approvals !== undefined) {
          const { id } = await log.approvals.request(approvalRow({}))
          await differs('a request for approval')
          await log.approvals.update(id, 'pending', { status: 'rejected' })
          await differs('a decision')
        }
        if (log.runs !== undefined) {
          await log.runs.claim(runClaim())
          await differs('the claim of a run')
        }
        // Other programs may use the same server, and each of their commits may count.
        for (const deadline = performance.now() + longestNoiseMs; ;) {
          const before = await log.version()
          await log.list({})
          await log.listRuns({})
          if ((await log.version()) === before) return
          const isNoise = performance.now() < deadline
          assert.ok(isNoise, 'the version differs although nothing has changed')
        }
      },
    },
    {
      name: 'the version of one connection differs after a change of another',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess ? null : 'the adapter does not declare multiProcess',
      async run({ open }) {
        const log = await browsable(open)
        const before = await log.version()
        const other = await open()
        const opened = await log.version()
        const token = await mustStart(other)
        const started = await log.version()
        assert.ok(started !== before && started !== opened)
        await other.finish(token, success())
        assert.notEqual(await log.version(), started)
      },
    },
  ],
}

/** The longest that other programs are taken to commit without a pause. */
const longestNoiseMs = 20_000

import assert from 'node:assert/strict'
import { nowOf } from '@smithers/tool-core/log'
import type { ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup, Workbench } from '../conformance-group.ts'
import { runsOf } from './run-leases.ts'
import { ownerElsewhere } from '../sample-owner.ts'
import { mustStart } from '../sample-row.ts'
import { runClaim } from '../sample-run.ts'

const minuteMs = 60_000

/** Opens the log as a machine does whose clock is an hour ahead, and lets it work by that clock. */
async function whereTheClockIsAhead<Answer>(
  { open }: Workbench,
  work: (log: ToolCallLog) => Promise<Answer>,
): Promise<Answer> {
  const realNow = Date.now
  Date.now = () => realNow() + 60 * minuteMs
  try {
    return await work(await open())
  } finally {
    Date.now = realNow
  }
}

export const clock: ConformanceGroup = {
  title: '21 clock',
  notApplicable: ({ sharesClock = false }) =>
    sharesClock ? null : 'the machines that use the log have one clock',
  tests: [
    {
      name: 'a machine whose clock is wrong knows the time of the others, in whole milliseconds',
      async run(workbench) {
        const log = await workbench.open()
        assert.ok(log.now !== undefined, 'the log shares a clock and has no now')
        const before = log.now()
        const there = await whereTheClockIsAhead(workbench, async (other) => nowOf(other))
        assert.ok(Math.abs(there - before) < minuteMs, `the clocks differ by ${there - before} ms`)
        assert.ok(Number.isSafeInteger(before) && Number.isSafeInteger(there))
        if (log.runs !== undefined) {
          assert.ok(Math.abs(nowOf(log.runs) - nowOf(log)) < minuteMs)
        }
      },
    },
    {
      name: 'it takes no running call of another machine for lost',
      async run(workbench) {
        const log = await workbench.open()
        const lease = { ownerId: ownerElsewhere(), leaseExpiresAtMs: nowOf(log) + minuteMs }
        await mustStart(log, lease)
        const marked = await whereTheClockIsAhead(workbench, async (other) =>
          other.recover({ nowMs: nowOf(other) }),
        )
        assert.equal(marked, 0)
        assert.equal(await log.recover({ nowMs: nowOf(log) + 2 * minuteMs }), 1)
      },
    },
    {
      name: 'it takes over no run that another machine holds',
      notApplicable: ({ capabilities }) =>
        capabilities.runs === true ? null : 'the adapter declares no runs',
      async run(workbench) {
        const runs = runsOf(await workbench.open())
        const nowMs = nowOf(runs)
        const leaseExpiresAtMs = nowMs + minuteMs
        await runs.claim(runClaim({ ownerId: ownerElsewhere(), nowMs, leaseExpiresAtMs }))
        const claimed = await whereTheClockIsAhead(workbench, async (other) =>
          runsOf(other).claim(runClaim({ nowMs: nowOf(runsOf(other)) })),
        )
        assert.equal(claimed.ok, false)
      },
    },
  ],
}

import assert from 'node:assert/strict'
import type { MaybePromise, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import type { ConformanceGroup, Workbench } from '../conformance-group.ts'
import type { FailureHooks, LogConformanceOptions } from '../conformance-options.ts'
import { mustStart, sampleRow, success } from '../sample-row.ts'

const fsync = { durability: 'fsync', claim: 'inflight' } as const

export const failures: ConformanceGroup = {
  title: '10 failure',
  tests: [
    {
      name: 'a closed log rejects the start of a call, and closing twice is no error',
      async run({ open }) {
        const log = await open()
        await log.close()
        await assertUnavailable(() => log.start(sampleRow(), fsync))
        await log.close()
      },
    },
    {
      name: 'a close waits for the writes that were begun before it',
      async run({ open, location, options }) {
        const log = await open()
        const started = Array.from({ length: 20 }, (_, index) => mustStart(log, { seq: index + 1 }))
        await log.close()
        await Promise.all(started)
        if (!options.capabilities.durable) return
        const reopened = await open(location)
        assert.equal((await reopened.list({})).length, 20)
      },
    },
    {
      name: 'an output that was cut to an envelope stays valid JSON',
      async run({ open }) {
        const log = await open()
        const head = 'é'.repeat(100_000)
        const envelope = { $truncated: true, bytes: 9_000_000, sha256: 'b'.repeat(64), head }
        const callToken = await mustStart(log)
        await log.finish(callToken, success({ outputJson: JSON.stringify(envelope) }))
        const [row] = await log.list({ callToken })
        assert.deepEqual(JSON.parse(row?.outputJson ?? ''), envelope)
      },
    },
    {
      name: 'a log that cannot be written refuses the start with TOOL_LOG_UNAVAILABLE and can still be listed',
      notApplicable,
      run: (workbench) =>
        refusesWrites(workbench, ({ openReadOnly }) => openReadOnly(workbench.location)),
    },
    {
      name: 'a log without room refuses the start with TOOL_LOG_UNAVAILABLE and can still be listed',
      notApplicable,
      run: (workbench) => refusesWrites(workbench, ({ openFull }) => openFull(workbench.location)),
    },
  ],
}

function notApplicable({ failures: given }: LogConformanceOptions): string | null {
  return 'skip' in given ? given.skip : null
}

async function refusesWrites(
  { open, track, options }: Workbench,
  openBroken: (hooks: FailureHooks) => MaybePromise<ToolCallLog>,
): Promise<void> {
  const healthy = await open()
  const callToken = await mustStart(healthy)
  await healthy.close()

  const log = track(await openBroken(hooks(options)))
  // Large, so that the last free page cannot take it.
  const row = sampleRow({ seq: 2, inputJson: JSON.stringify('x'.repeat(100_000)) })
  await assertUnavailable(() => log.start(row, fsync))
  assert.deepEqual(
    (await log.list({})).map((listed) => listed.callToken),
    [callToken],
  )
  await log.close()
}

function hooks({ failures: given }: LogConformanceOptions): FailureHooks {
  assert.ok(!('skip' in given))
  return given
}

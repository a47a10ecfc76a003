import assert from 'node:assert/strict'
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustStart, sampleRow, sampleTimeMs, settled, success } from '../sample-row.ts'

const relaxed = { durability: 'relaxed', claim: null } as const

export const identity: ConformanceGroup = {
  title: '3 identity',
  tests: [
    {
      name: 'a second call with the run, node, iteration, attempt and seq of a row is "seq-taken" and changes nothing',
      async run({ open }) {
        const log = await open()
        await mustStart(log, { toolName: 'first' })
        const before = await log.list({})
        assert.deepEqual(await log.start(sampleRow({ toolName: 'second' }), relaxed), {
          ok: false,
          reason: 'seq-taken',
        })
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'a call that differs in one part of its position is another row',
      async run({ open }) {
        const log = await open()
        const parts = [
          {},
          { runId: 'r' },
          { nodeId: 'n' },
          { iteration: 1 },
          { attempt: 2 },
          { seq: 2 },
        ]
        for (const part of parts) await mustStart(log, part)
        assert.equal((await log.list({})).length, parts.length)
      },
    },
    {
      name: 'positions are not confused when their parts run into each other',
      async run({ open }) {
        const log = await open()
        await mustStart(log, { runId: 'a', nodeId: 'b:c' })
        await mustStart(log, { runId: 'a:b', nodeId: 'c' })
        await mustStart(log, { runId: 'a\u0000b', nodeId: 'c' })
        await mustStart(log, { runId: 'a', nodeId: 'b\u0000c' })
        assert.equal((await log.list({})).length, 4)
      },
    },
    {
      name: 'a second call with the token of a row is rejected and changes nothing',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log, { toolName: 'first' })
        const before = await log.list({})
        await assert.rejects(settled(() => log.start(sampleRow({ callToken, seq: 2 }), relaxed)))
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'the second finish of a call is "fenced" and changes nothing',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log)
        assert.equal(await log.finish(callToken, success()), 'ok')
        const before = await log.list({})
        assert.equal(await log.finish(callToken, failure()), 'fenced')
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'of many finishes at once one is accepted',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log)
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            settled(() => log.finish(callToken, success({ finishedAtMs: sampleTimeMs + index }))),
          ),
        )
        assert.equal(results.filter((result) => result === 'ok').length, 1)
      },
    },
    {
      name: 'the finish of an unknown call is "fenced"',
      async run({ open }) {
        const log = await open()
        await mustStart(log)
        const before = await log.list({})
        assert.equal(await log.finish('no such token', success()), 'fenced')
        assert.deepEqual(await log.list({}), before)
      },
    },
  ],
}

import assert from 'node:assert/strict'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { runChild } from '../run-child.ts'
import { failure, mustStart, sampleTimeMs, settled, success } from '../sample-row.ts'
import { ownerElsewhere } from '../sample-owner.ts'

const nowMs = sampleTimeMs + 1000
const ended = { leaseExpiresAtMs: nowMs - 1 }
const alive = { leaseExpiresAtMs: nowMs + 1 }

export const recovery: ConformanceGroup = {
  title: '5 recovery',
  tests: [
    {
      name: 'a running call whose lease has ended becomes an error with an unknown outcome',
      async run({ open }) {
        const log = await open()
        const tokens = [
          await mustStart(log, { seq: 1, leaseExpiresAtMs: nowMs - 1 }),
          await mustStart(log, { seq: 2, leaseExpiresAtMs: nowMs }),
        ]
        const before = await log.list({})
        assert.equal(await log.recover({ nowMs }), 2)
        const after = await log.list({})
        assert.deepEqual(
          after.map((row) => row.callToken),
          tokens,
        )
        for (const [index, row] of after.entries()) {
          const { errorJson, ...rest } = row
          assert.deepEqual(rest, {
            ...withoutError(before[index]),
            status: 'error',
            effect: 'unknown',
            finishedAtMs: nowMs,
          })
          const error = JSON.parse(errorJson ?? '') as { code?: unknown }
          assert.equal(error.code, 'TOOL_OUTCOME_UNKNOWN')
        }
      },
    },
    {
      name: 'a live call, a call without a lease and finished calls are left as they are',
      async run({ open }) {
        const log = await open()
        await mustStart(log, { seq: 1, ...alive })
        await mustStart(log, { seq: 2, leaseExpiresAtMs: null })
        await mustStart(log, { seq: 3, leaseExpiresAtMs: null, ownerId: null })
        await log.finish(await mustStart(log, { seq: 4, ...ended }), success())
        await log.finish(await mustStart(log, { seq: 5, ...ended }), failure())
        const renewed = await mustStart(log, { seq: 6, ...ended })
        await log.renew(renewed, nowMs + 60_000)
        const before = await log.list({})
        assert.equal(await log.recover({ nowMs }), 0)
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'a call of a process that has died on this host is recovered before its lease ends',
      async run({ open, options }) {
        const dead = await runChild(options, { kind: 'owner-id' })
        assert.notEqual(dead, currentOwnerId())
        const log = await open()
        const orphan = await mustStart(log, { seq: 1, ...alive, ownerId: dead })
        await mustStart(log, { seq: 2, ...alive, ownerId: currentOwnerId() })
        assert.equal(await log.recover({ nowMs }), 1)
        assert.deepEqual(
          (await log.list({ status: 'error' })).map((row) => row.callToken),
          [orphan],
        )
      },
    },
    {
      name: 'a call of another process that lives on this host is left, however late it is',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess && process.platform === 'linux'
          ? null
          : 'needs another process that shares the log, and the start times of Linux',
      async run({ open, location, options }) {
        const log = await open()
        await mustStart(log, { ...ended, ownerId: currentOwnerId() })
        const before = await log.list({})
        assert.equal(await runChild(options, { kind: 'recover', location, nowMs }), 0)
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'a call of a process on another host is left until its lease ends, and so is one of an owner of another form',
      async run({ open }) {
        const log = await open()
        await mustStart(log, { seq: 1, ...alive, ownerId: 'another-host:999999:1' })
        await mustStart(log, { seq: 2, ...alive, ownerId: 'worker 7 of the night shift' })
        assert.equal(await log.recover({ nowMs }), 0)
        assert.equal(await log.recover({ nowMs: nowMs + 1 }), 2)
      },
    },
    {
      name: 'a call of another machine with the name of this host is left until its lease ends',
      async run({ open }) {
        const log = await open()
        const ownerId = ownerElsewhere()
        await mustStart(log, { seq: 1, ...alive, ownerId })
        assert.equal(await log.recover({ nowMs }), 0)
        assert.equal(await log.recover({ nowMs: nowMs + 1 }), 1)
      },
    },
    {
      name: 'only the run, node, iteration and earlier attempts that were asked for are recovered',
      async run({ open }) {
        const log = await open()
        const identity = { runId: 'r', nodeId: 'n', iteration: 1, attempt: 2, ...ended }
        const wanted = await mustStart(log, identity)
        for (const other of [{ runId: 'R' }, { nodeId: 'N' }, { iteration: 0 }, { attempt: 3 }]) {
          await mustStart(log, { ...identity, ...other })
        }
        const query = { runId: 'r', nodeId: 'n', iteration: 1, beforeAttempt: 3, nowMs }
        assert.equal(await log.recover(query), 1)
        assert.deepEqual(
          (await log.list({ status: 'error' })).map((row) => row.callToken),
          [wanted],
        )
      },
    },
    {
      name: 'recovering again finds nothing',
      async run({ open }) {
        const log = await open()
        await mustStart(log, ended)
        assert.equal(await log.recover({ nowMs }), 1)
        const before = await log.list({})
        assert.equal(await log.recover({ nowMs: nowMs + 5 }), 0)
        assert.deepEqual(await log.list({}), before)
      },
    },
    {
      name: 'recoveries that race mark every call once',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        for (let seq = 1; seq <= 50; seq += 1) await mustStart(first, { seq, ...ended })
        const counts = await Promise.all(
          Array.from({ length: 9 }, (_, index) => {
            const log = logs[index % logs.length] ?? first
            return settled(() => log.recover({ nowMs: nowMs + index }))
          }),
        )
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          50,
        )
      },
    },
    {
      name: 'the finish of a call that was recovered is fenced',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log, ended)
        await log.recover({ nowMs })
        const before = await log.list({})
        assert.equal(await log.finish(callToken, success()), 'fenced')
        assert.equal(await log.renew(callToken, nowMs + 1), false)
        assert.deepEqual(await log.list({}), before)
      },
    },
  ],
}

function withoutError<Row extends { errorJson: string | null }>(
  row: Row | undefined,
): Omit<Row, 'errorJson'> {
  assert.ok(row)
  const { errorJson, ...rest } = row
  assert.equal(errorJson, null)
  return rest
}

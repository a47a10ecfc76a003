import assert from 'node:assert/strict'
import type { StartRow } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustStart, sampleRow, sampleTimeMs, success } from '../sample-row.ts'

const relaxed = { durability: 'relaxed', claim: null } as const

export const basics: ConformanceGroup = {
  title: '1 basics',
  tests: [
    {
      name: 'the log has a name and declares the capabilities that it is tested for',
      async run({ open, options }) {
        const log = await open()
        assert.notEqual(log.name, '')
        assert.partialDeepStrictEqual({ ...log.capabilities }, { ...options.capabilities })
      },
    },
    {
      name: 'a started call is listed before it finishes',
      async run({ open }) {
        const log = await open()
        const row = sampleRow()
        assert.deepEqual(await log.start(row, relaxed), { ok: true })
        assert.deepEqual(await log.list({ runId: row.runId }), [
          {
            ...row,
            claim: null,
            outputJson: null,
            finishedAtMs: null,
            status: 'started',
            errorJson: null,
            effect: null,
          },
        ])
      },
    },
    {
      name: 'a call finishes as a success or as an error, with everything the patch says',
      async run({ open }) {
        const log = await open()
        const networkJson = '{"connections":[],"omitted":1}'
        const patches = [
          success(),
          failure({ effect: 'unknown' }),
          success({ networkJson }),
          failure({ networkJson }),
        ]
        for (const [seq, patch] of patches.entries()) {
          const callToken = await mustStart(log, { seq: seq + 1 })
          assert.equal(await log.finish(callToken, patch), 'ok')
          const [row] = await log.list({ callToken })
          assert.partialDeepStrictEqual(row, { callToken, ...patch })
        }
      },
    },
    {
      name: 'finishedAtMs is null exactly while the status is "started", and a finished row is "success" or "error"',
      async run({ open }) {
        const log = await open()
        for (let seq = 1; seq <= 9; seq += 1) {
          const callToken = await mustStart(log, { seq, leaseExpiresAtMs: sampleTimeMs + seq })
          if (seq % 3 === 1) await log.finish(callToken, success())
          if (seq % 3 === 2) await log.finish(callToken, failure())
        }
        await log.recover({ nowMs: sampleTimeMs + 3 })
        const rows = await log.list({})
        // The third, sixth and ninth are not finished by themselves; the lease of the third has ended.
        const last = ['error', 'started', 'started']
        assert.deepEqual(
          rows.map(({ status }) => status),
          last.flatMap((status) => ['success', 'error', status]),
        )
        for (const { status, finishedAtMs } of rows) {
          assert.equal(finishedAtMs === null, status === 'started')
        }
      },
    },
    {
      name: 'every field comes back as it was stored: empty, Unicode, NUL, lone surrogates, largest integers, null',
      async run({ open }) {
        const log = await open()
        const texts = [
          '',
          ' ',
          'π 🦊 \u202E',
          'a\u0000b',
          'a\uD800b',
          '\uDC00',
          "'; DROP TABLE x; --",
          '\r\n',
        ]
        for (const [index, text] of texts.entries()) {
          const row: StartRow = {
            ...sampleRow({ seq: index + 1 }),
            runId: `run${text}`,
            nodeId: text,
            toolName: text,
            toolCallId: text,
            idempotencyKey: text,
            inputHash: text,
            inputJson: text,
            replayOf: text,
            traceId: text,
            spanId: text,
          }
          await log.start(row, relaxed)
          const patch = success({ outputJson: text, errorJson: text })
          await log.finish(row.callToken, patch)
          const found = await log.list({ runId: row.runId, nodeId: text, toolName: text })
          assert.deepEqual(found, [{ ...row, claim: null, ...patch }])
        }

        const extreme = sampleRow({
          runId: 'extreme',
          iteration: Number.MAX_SAFE_INTEGER,
          attempt: Number.MAX_SAFE_INTEGER,
          seq: Number.MAX_SAFE_INTEGER,
          occurrence: Number.MAX_SAFE_INTEGER,
          startedAtMs: Number.MAX_SAFE_INTEGER,
          leaseExpiresAtMs: null,
          inputJson: null,
          toolCallId: null,
          inputHash: null,
          ownerId: null,
          sideEffect: false,
          idempotent: true,
        })
        await log.start(extreme, relaxed)
        const [found] = await log.list({ runId: 'extreme' })
        assert.partialDeepStrictEqual(found, extreme)
      },
    },
    {
      name: 'identifiers that differ only in a lone surrogate stay apart',
      async run({ open }) {
        const log = await open()
        for (const runId of ['r\uD800', 'r\uD801', 'r\uFFFD']) await mustStart(log, { runId })
        for (const runId of ['r\uD800', 'r\uD801', 'r\uFFFD']) {
          assert.deepEqual(
            (await log.list({ runId })).map((row) => row.runId),
            [runId],
          )
        }
      },
    },
    {
      name: 'a payload of one megabyte comes back whole',
      async run({ open }) {
        const log = await open()
        const json = JSON.stringify('π€'.repeat(200_000))
        const callToken = await mustStart(log, { inputJson: json })
        await log.finish(callToken, success({ outputJson: json }))
        const [row] = await log.list({ callToken })
        assert.ok(row?.inputJson === json && row.outputJson === json, 'the payload has changed')
      },
    },
    {
      name: 'rows are copies: changing one does not change the log',
      async run({ open }) {
        const log = await open()
        const given = { ...sampleRow() }
        await log.start(given, relaxed)
        given.toolName = 'changed'
        const [listed] = await log.list({})
        Object.assign(listed ?? {}, { toolName: 'changed' })
        const [row] = await log.list({})
        assert.equal(row?.toolName, 'charge')
      },
    },
    {
      name: 'replayOf is kept from the start and can be set by the finish',
      async run({ open }) {
        const log = await open()
        const first = await mustStart(log, { replayOf: 'earlier' })
        const second = await mustStart(log, { seq: 2 })
        await log.finish(first, success())
        await log.finish(second, success({ replayOf: first }))
        assert.deepEqual(
          (await log.list({})).map((row) => row.replayOf),
          ['earlier', first],
        )
      },
    },
    {
      name: 'an output that came from a cache is marked, and no other',
      async run({ open }) {
        const log = await open()
        for (const fromCache of [true, false]) {
          const callToken = await mustStart(log, { seq: fromCache ? 1 : 2 })
          await log.finish(callToken, success({ fromCache }))
        }
        const marks = (await log.list({})).map((row) => row.fromCache ?? false)
        assert.deepEqual(marks, [true, false])
      },
    },
    {
      name: 'an output that was recorded whole is marked, and no other',
      async run({ open }) {
        const log = await open()
        for (const outputExact of [true, false]) {
          const callToken = await mustStart(log, { seq: outputExact ? 1 : 2 })
          await log.finish(callToken, success({ outputExact }))
        }
        const marks = (await log.list({})).map((row) => row.outputExact ?? false)
        assert.deepEqual(marks, [true, false])
      },
    },
    {
      name: 'where the effect of a call lands is kept from the start',
      async run({ open }) {
        const log = await open()
        const scopes = ['workspace', 'external', null] as const
        for (const [index, effectScope] of scopes.entries()) {
          const callToken = await mustStart(log, { seq: index + 1, effectScope })
          if (index === 0) await log.finish(callToken, success())
        }
        const listed = (await log.list({})).map((row) => row.effectScope ?? null)
        assert.deepEqual(listed, scopes)
      },
    },
    {
      name: 'a lease is renewed while the call runs, and not after',
      async run({ open }) {
        const log = await open()
        const callToken = await mustStart(log)
        assert.equal(await log.renew(callToken, sampleTimeMs + 99_000), true)
        const [row] = await log.list({ callToken })
        assert.equal(row?.leaseExpiresAtMs, sampleTimeMs + 99_000)
        await log.finish(callToken, success())
        assert.equal(await log.renew(callToken, sampleTimeMs + 120_000), false)
        assert.equal(await log.renew('no such token', sampleTimeMs), false)
      },
    },
  ],
}

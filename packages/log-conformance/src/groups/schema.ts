import assert from 'node:assert/strict'
import type { ConformanceGroup } from '../conformance-group.ts'
import type { DocumentedRow, SchemaHooks } from '../conformance-options.ts'
import type { LogConformanceOptions } from '../conformance-options.ts'
import { assertUnavailable } from '../assert-unavailable.ts'
import { runChildrenTogether } from '../run-child.ts'
import { mustStart, sampleRow, sampleTimeMs, success } from '../sample-row.ts'

export const schema: ConformanceGroup = {
  title: '8 schema',
  notApplicable: (options) => ('skip' in options.schema ? options.schema.skip : null),
  tests: [
    {
      name: 'the documented twelve-column table is opened, keeps its rows and takes new ones',
      async run({ open, location, options }) {
        await hooks(options).createDocumentedTable(location, documentedRows)
        const log = await open()
        const old = await log.list({ runId: 'old' })
        assert.deepEqual(old.map(documentedFields), documentedRows)
        assert.equal(new Set(old.map((row) => row.callToken)).size, documentedRows.length)
        for (const row of old) {
          assert.notEqual(row.callToken, '')
          const { occurrence, idempotencyKey, claim, leaseExpiresAtMs } = row
          assert.deepEqual(
            { occurrence, idempotencyKey, claim, leaseExpiresAtMs },
            { occurrence: 0, idempotencyKey: null, claim: null, leaseExpiresAtMs: null },
          )
        }

        const callToken = await mustStart(log, { runId: 'new', idempotencyKey: 'k' })
        await log.finish(callToken, success())
        assert.equal((await log.list({ callToken, idempotencyKey: 'k' })).length, 1)
        const taken = await log.start(sampleRow({ runId: 'old', nodeId: 'node', seq: 1 }), {
          durability: 'relaxed',
          claim: null,
        })
        assert.deepEqual(taken, { ok: false, reason: 'seq-taken' })
      },
    },
    {
      name: 'pages by cursor hold every old row once',
      async run({ open, location, options }) {
        await hooks(options).createDocumentedTable(location, documentedRows)
        const log = await open()
        const [first] = await log.list({ limit: 1 })
        assert.ok(first)
        const rest = await log.list({ after: first })
        assert.equal(rest.length, documentedRows.length - 1)
      },
    },
    {
      name: 'storage that a newer version has shaped can be listed, refuses every write and is not changed',
      async run({ open, location, options }) {
        const first = await open()
        const callToken = await mustStart(first)
        await first.close()
        await hooks(options).markNewer(location)

        for (let opening = 1; opening <= 2; opening += 1) {
          const log = await open()
          const rows = await log.list({})
          assert.deepEqual(
            rows.map((row) => [row.callToken, row.status]),
            [[callToken, 'started']],
          )
          const writes = [
            () => log.start(sampleRow({ seq: 2 }), { durability: 'relaxed', claim: null }),
            () => log.finish(callToken, success()),
            () => log.renew(callToken, sampleTimeMs),
            () => log.recover({ nowMs: Number.MAX_SAFE_INTEGER }),
            () => log.prune({ maxRows: 0 }),
          ]
          for (const write of writes) {
            const error = await assertUnavailable(write)
            assert.match(error.message, /newer/)
          }
          await log.close()
        }
      },
    },
    {
      name: 'processes that migrate the same storage at the same moment all succeed',
      notApplicable: ({ capabilities }) =>
        capabilities.multiProcess ? null : 'the adapter declares multiProcess: false',
      async run({ open, location, options }) {
        await hooks(options).createDocumentedTable(location, documentedRows)
        const nodes = ['a', 'b', 'c', 'd']
        await runChildrenTogether(
          options,
          nodes.map((nodeId) => ({ kind: 'first-call' as const, location, nodeId })),
        )
        const log = await open()
        const rows = await log.list({})
        assert.deepEqual(rows.slice(0, documentedRows.length).map(documentedFields), documentedRows)
        const added = rows.slice(documentedRows.length).map(({ nodeId }) => nodeId)
        assert.deepEqual(added.toSorted(), nodes)
      },
    },
  ],
}

function hooks({ schema: given }: LogConformanceOptions): SchemaHooks {
  assert.ok(!('skip' in given))
  return given
}

const documentedRows: readonly DocumentedRow[] = [1, 2, 3].map((seq) => ({
  runId: 'old',
  nodeId: 'node',
  iteration: 0,
  attempt: 1,
  seq,
  toolName: 'read',
  inputJson: '{"path":"a.txt"}',
  outputJson: seq === 2 ? null : '"text"',
  startedAtMs: 1000,
  finishedAtMs: 2000,
  status: seq === 2 ? 'error' : 'success',
  errorJson: seq === 2 ? '{"message":"no such file"}' : null,
}))

function documentedFields(row: DocumentedRow): DocumentedRow {
  return Object.fromEntries(
    Object.keys(documentedRows[0] ?? {}).map((field) => [field, row[field as keyof DocumentedRow]]),
  ) as unknown as DocumentedRow
}

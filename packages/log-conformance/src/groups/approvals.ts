import assert from 'node:assert/strict'
import type { ApprovalRow, ApprovalStore, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import type { ConformanceGroup } from '../conformance-group.ts'
import { mustFinish, mustStart, sampleTimeMs, settled } from '../sample-row.ts'

export const approvals: ConformanceGroup = {
  title: '12 approvals',
  notApplicable: ({ capabilities }) =>
    capabilities.approvals === true ? null : 'the adapter declares no approvals',
  tests: [
    {
      name: 'a question comes back as it was asked: empty, Unicode, NUL, lone surrogates, null',
      async run({ open }) {
        const store = approvalsOf(await open())
        const rows = [
          question({ id: 'plain' }),
          question({ id: '\uD800', runId: '\uD800', callKey: 'a\0b', prompt: '', comment: 'π 🦊' }),
          question({ id: 'full', callKey: 'other', ...answered, status: 'approved' }),
        ]
        for (const row of rows) {
          assert.deepEqual(await store.request(row), row)
          assert.deepEqual(await store.list({ id: row.id }), [row])
        }
      },
    },
    {
      name: 'a call of a run has one question at a time, until a call has used the answer',
      async run({ open }) {
        const store = approvalsOf(await open())
        const first = question({ id: 'first' })
        await store.request(first)
        assert.deepEqual(await store.request(question({ id: 'second' })), first)
        const ready = { status: 'pending', usedBy: null } as const
        await store.update('first', ready, { status: 'rejected' })
        assert.equal((await store.request(question({ id: 'third' }))).id, 'first')

        await store.update(
          'first',
          { ...ready, status: 'rejected' },
          { status: 'executed', usedBy: 'call' },
        )
        assert.equal((await store.request(question({ id: 'fourth' }))).id, 'fourth')
        assert.equal((await store.request(question({ id: 'fifth', runId: 'other' }))).id, 'fifth')
        assert.equal((await store.request(question({ id: 'sixth', callKey: 'other' }))).id, 'sixth')
        assert.equal((await store.list({})).length, 4)

        const back = { status: 'approved', usedBy: null } as const
        const used = { status: 'executed', usedBy: 'call' } as const
        assert.equal(
          await store.update('first', used, back),
          false,
          'two questions stand for a call',
        )
        await store.update('fourth', ready, used)
        assert.equal(await store.update('first', used, back), true)
      },
    },
    {
      name: 'of many that ask at once one question is stored, and all are told of it',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, index) => {
            const store = approvalsOf(logs[index % logs.length] ?? first)
            return settled(() => store.request(question({ id: `q-${index}` })))
          }),
        )
        assert.equal(new Set(answers.map(({ id }) => id)).size, 1)
        assert.equal((await approvalsOf(first).list({})).length, 1)
      },
    },
    {
      name: 'of many that decide at once one wins, and a decision is not changed by those who expected another state',
      async run({ open }) {
        const store = approvalsOf(await open())
        await store.request(question({ id: 'q' }))
        const expected = { status: 'pending', usedBy: null } as const
        const won = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            settled(() =>
              store.update('q', expected, { status: 'approved', decidedBy: `p-${index}` }),
            ),
          ),
        )
        assert.equal(won.filter(Boolean).length, 1)
        const [decided] = await store.list({ id: 'q' })
        assert.equal(decided?.decidedBy, `p-${won.indexOf(true)}`)

        assert.equal(
          await store.update('q', { status: 'approved', usedBy: 'x' }, { status: 'executed' }),
          false,
        )
        assert.equal(await store.update('none', expected, { status: 'approved' }), false)
        assert.deepEqual(await store.list({ id: 'q' }), [decided])
      },
    },
    {
      name: 'a change touches what it names and nothing else',
      async run({ open }) {
        const store = approvalsOf(await open())
        const asked = question({ id: 'q' })
        const other = question({ id: 'r', callKey: 'other' })
        await store.request(asked)
        await store.request(other)
        assert.equal(await store.update('q', { status: 'pending', usedBy: null }, answered), true)
        assert.deepEqual(await store.list({ id: 'q' }), [{ ...asked, ...answered }])
        assert.deepEqual(await store.list({ id: 'r' }), [other])
      },
    },
    {
      name: 'the newest questions are listed first, by every filter, up to the limit',
      async run({ open }) {
        const store = approvalsOf(await open())
        for (let index = 0; index < 6; index += 1) {
          const status = index % 3 === 0 ? 'approved' : 'pending'
          const runId = `run-${index % 2}`
          const place = { callKey: `key-${index}`, toolCallId: `call-${index % 3}` }
          await store.request(question({ id: `q-${index}`, runId, status, ...place }))
        }
        const lists: [Parameters<ApprovalStore['list']>[0], number[]][] = [
          [{}, [5, 4, 3, 2, 1, 0]],
          [{ limit: 2 }, [5, 4]],
          [{ runId: 'run-1' }, [5, 3, 1]],
          [{ status: 'approved' }, [3, 0]],
          [{ toolCallId: 'call-2' }, [5, 2]],
          [{ callKey: 'key-4' }, [4]],
          [{ runId: 'run-0', status: 'pending', limit: 1 }, [4]],
          [{ runId: 'none' }, []],
        ]
        for (const [query, expected] of lists) {
          const ids = (await store.list(query)).map(({ id }) => id)
          assert.deepEqual(
            ids,
            expected.map((index) => `q-${index}`),
            JSON.stringify(query),
          )
        }
      },
    },
    {
      name: 'questions and answers go with the last call of their run, a used approval with its own call',
      async run({ open }) {
        const log = await open()
        const store = approvalsOf(log)
        const used = await mustFinish(log, { runId: 'live', seq: 1, startedAtMs: sampleTimeMs })
        await mustStart(log, { runId: 'live', seq: 2, startedAtMs: sampleTimeMs + 50 })
        await mustFinish(log, { runId: 'gone', startedAtMs: sampleTimeMs })
        const rows: Partial<ApprovalRow>[] = [
          { id: 'used', runId: 'live' },
          { id: 'asked', runId: 'live' },
          { id: 'decided', runId: 'live', status: 'rejected' },
          { id: 'asked of a run that is gone', runId: 'gone' },
          { id: 'approved of a run that is gone', runId: 'gone', status: 'approved' },
          { id: 'decided late', runId: 'gone', decidedAtMs: sampleTimeMs + 100 },
          { id: 'of a run without calls', runId: 'new', requestedAtMs: sampleTimeMs + 100 },
        ]
        for (const row of rows) await store.request(question({ callKey: row.id ?? '', ...row }))
        const use = { status: 'executed', usedBy: used } as const
        await store.update('used', { status: 'pending', usedBy: null }, use)
        await log.prune({})
        assert.equal((await store.list({})).length, rows.length)
        await log.prune({ finishedBeforeMs: sampleTimeMs + 100 })
        const left = (await store.list({})).map(({ id }) => id)
        assert.deepEqual(left.toReversed(), [
          'asked',
          'decided',
          'decided late',
          'of a run without calls',
        ])
      },
    },
    {
      name: 'questions and answers are there when the log is opened again',
      notApplicable: ({ capabilities }) =>
        capabilities.durable ? null : 'the adapter declares durable: false',
      async run({ open }) {
        const log = await open()
        await approvalsOf(log).request(question({ id: 'q' }))
        await approvalsOf(log).update('q', { status: 'pending', usedBy: null }, answered)
        const before = await approvalsOf(log).list({})
        await log.close()
        assert.deepEqual(await approvalsOf(await open()).list({}), before)
      },
    },
    {
      name: 'a closed log refuses questions and answers with TOOL_LOG_UNAVAILABLE',
      async run({ open }) {
        const log = await open()
        const store = approvalsOf(log)
        await log.close()
        await assertUnavailable(() => store.request(question({ id: 'q' })))
        await assertUnavailable(() => store.list({}))
      },
    },
  ],
}

function approvalsOf(log: ToolCallLog): ApprovalStore {
  assert.ok(log.approvals, 'the log declares approvals and has none')
  return log.approvals
}

function question(fields: Partial<ApprovalRow>): ApprovalRow {
  return {
    id: 'q',
    runId: 'run-1',
    nodeId: 'node-1',
    iteration: 0,
    attempt: 1,
    toolName: 'charge',
    toolCallId: 'call_1',
    callKey: 'key-1',
    idempotencyKey: null,
    inputJson: '{"amount":100}',
    inputSchemaJson: null,
    prompt: null,
    defaultsJson: null,
    status: 'pending',
    requestedAtMs: sampleTimeMs,
    expiresAtMs: null,
    decidedAtMs: null,
    decidedBy: null,
    comment: null,
    approvedArgsJson: null,
    usedBy: null,
    usedByOwner: null,
    usedAtMs: null,
    ...fields,
  }
}

const answered = {
  attempt: 2,
  toolCallId: 'call_2',
  status: 'executed',
  decidedAtMs: sampleTimeMs + 1,
  decidedBy: 'Ada',
  comment: 'less',
  approvedArgsJson: '{"amount":50}',
  usedBy: 'token',
  usedByOwner: 'host:1:2',
  usedAtMs: Number.MAX_SAFE_INTEGER,
} as const

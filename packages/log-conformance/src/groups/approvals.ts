import assert from 'node:assert/strict'
import type { ApprovalRow, ApprovalStore, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import type { ConformanceGroup } from '../conformance-group.ts'
import { approvalRow } from '../sample-approval.ts'
import { mustFinish, mustStart, sampleTimeMs, settled, success } from '../sample-row.ts'

export const approvals: ConformanceGroup = {
  title: '12 approvals',
  notApplicable: ({ capabilities }) =>
    capabilities.approvals === true ? null : 'the adapter declares no approvals',
  tests: [
    {
      name: 'a request comes back as it was made: empty, Unicode, NUL, lone surrogates, null',
      async run({ open }) {
        const store = approvalsOf(await open())
        const rows = [
          approvalRow({ id: 'plain' }),
          approvalRow({
            id: '\uD800',
            runId: '\uD800',
            callKey: 'a\0b',
            prompt: '',
            comment: 'π 🦊',
          }),
          approvalRow({ id: 'full', callKey: 'other', ...answered, status: 'approved' }),
        ]
        for (const row of rows) {
          assert.deepEqual(await store.request(row), row)
          assert.deepEqual(await store.list({ id: row.id }), [row])
        }
      },
    },
    {
      name: 'a call with its arguments has one open request at a time, until a call has used the approval',
      async run({ open }) {
        const store = approvalsOf(await open())
        const first = approvalRow({ id: 'first' })
        await store.request(first)
        assert.deepEqual(await store.request(approvalRow({ id: 'second' })), first)
        await store.update('first', 'pending', { status: 'rejected' })
        assert.equal((await store.request(approvalRow({ id: 'third' }))).id, 'first')
        assert.equal(await store.update('first', 'rejected', { status: 'used' }), true)
        assert.equal((await store.request(approvalRow({ id: 'fourth' }))).id, 'fourth')
        assert.equal(
          (await store.request(approvalRow({ id: 'fifth', runId: 'other' }))).id,
          'fifth',
        )
        assert.equal(
          (await store.request(approvalRow({ id: 'sixth', callKey: 'other' }))).id,
          'sixth',
        )
        assert.equal((await store.list({})).length, 4)

        const reopened = store.update('first', 'used', { status: 'approved' })
        assert.equal(await reopened, false, 'two requests are open for a call')
        await store.update('fourth', 'pending', { status: 'used' })
        assert.equal(await store.update('first', 'used', { status: 'approved' }), true)
      },
    },
    {
      name: 'a request with other arguments supersedes the undone ones of its call, and erases what they kept',
      async run({ open }) {
        const store = approvalsOf(await open())
        const kept = { previewJson: '"a preview"' }
        await store.request(approvalRow({ id: 'waits', ...kept }))
        await store.request(approvalRow({ id: 'other call', callKey: 'other', ...kept }))
        await store.request(approvalRow({ id: 'other run', runId: 'other', ...kept }))
        await store.request(approvalRow({ id: 'second', inputHash: 'second', ...kept }))
        const [old] = await store.list({ id: 'waits' })
        assert.deepEqual(old, approvalRow({ id: 'waits', status: 'superseded', previewJson: null }))

        const approved = { status: 'approved', approvedArgsJson: '{"amount":50}' } as const
        assert.equal(await store.update('second', 'pending', approved), true)
        assert.equal(await store.update('waits', 'pending', approved), false)
        await store.request(approvalRow({ id: 'third', inputHash: 'third' }))
        const [given] = await store.list({ id: 'second' })
        assert.equal(given?.status, 'superseded')
        assert.equal(given.approvedArgsJson, null)
        assert.equal(given.previewJson, null)

        await store.update('third', 'pending', { status: 'rejected' })
        const again = await store.request(approvalRow({ id: 'again', inputHash: 'second' }))
        assert.equal(again.id, 'again')
        const statuses = (await store.list({})).map(({ id, status }) => [id, status])
        assert.deepEqual(statuses.toReversed(), [
          ['waits', 'superseded'],
          ['other call', 'pending'],
          ['other run', 'pending'],
          ['second', 'superseded'],
          ['third', 'rejected'],
          ['again', 'pending'],
        ])
      },
    },
    {
      name: 'of many equal requests at once one is stored, and all get it',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, index) => {
            const store = approvalsOf(logs[index % logs.length] ?? first)
            return settled(() => store.request(approvalRow({ id: `q-${index}` })))
          }),
        )
        assert.equal(new Set(answers.map(({ id }) => id)).size, 1)
        assert.equal((await approvalsOf(first).list({})).length, 1)
      },
    },
    {
      name: 'of many decisions at once one wins, and a change that expected another status is refused',
      async run({ open }) {
        const store = approvalsOf(await open())
        await store.request(approvalRow({ id: 'q' }))
        const won = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            settled(() =>
              store.update('q', 'pending', { status: 'approved', decidedBy: `p-${index}` }),
            ),
          ),
        )
        assert.equal(won.filter(Boolean).length, 1)
        const [decided] = await store.list({ id: 'q' })
        assert.equal(decided?.decidedBy, `p-${won.indexOf(true)}`)

        assert.equal(await store.update('q', 'rejected', { status: 'used' }), false)
        assert.equal(await store.update('none', 'pending', { status: 'approved' }), false)
        assert.deepEqual(await store.list({ id: 'q' }), [decided])
      },
    },
    {
      name: 'a change touches what it names and nothing else',
      async run({ open }) {
        const store = approvalsOf(await open())
        const asked = approvalRow({ id: 'q' })
        const other = approvalRow({ id: 'r', callKey: 'other' })
        await store.request(asked)
        await store.request(other)
        assert.equal(await store.update('q', 'pending', answered), true)
        assert.deepEqual(await store.list({ id: 'q' }), [{ ...asked, ...answered }])
        assert.deepEqual(await store.list({ id: 'r' }), [other])
      },
    },
    {
      name: 'the newest requests are listed first, by every filter, up to the limit',
      async run({ open }) {
        const store = approvalsOf(await open())
        for (let index = 0; index < 6; index += 1) {
          const status = index % 3 === 0 ? 'approved' : 'pending'
          const runId = `run-${index % 2}`
          const ids = { callKey: `key-${index}`, toolCallId: `call-${index % 3}` }
          await store.request(approvalRow({ id: `q-${index}`, runId, status, ...ids }))
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
      name: 'requests go with the last call of their run, a used approval with its own call',
      async run({ open }) {
        const log = await open()
        const store = approvalsOf(log)
        const callToken = await mustStart(
          log,
          { runId: 'live', seq: 1, startedAtMs: sampleTimeMs },
          { approvalId: 'used' },
        )
        await log.finish(callToken, success())
        await mustStart(log, { runId: 'live', seq: 2, startedAtMs: sampleTimeMs + 50 })
        await mustFinish(log, { runId: 'gone', startedAtMs: sampleTimeMs })
        const rows: Partial<ApprovalRow>[] = [
          { id: 'used', runId: 'live' },
          { id: 'asked', runId: 'waiting' },
          { id: 'decided', runId: 'live', status: 'rejected' },
          { id: 'rejected of a run that is gone', runId: 'gone', status: 'rejected' },
          { id: 'expired of a run that is gone', runId: 'gone', status: 'expired' },
          {
            id: 'decided late',
            runId: 'gone',
            status: 'rejected',
            decidedAtMs: sampleTimeMs + 100,
          },
          { id: 'of a run without calls', runId: 'new', requestedAtMs: sampleTimeMs + 100 },
        ]
        for (const row of rows) await store.request(approvalRow({ callKey: row.id ?? '', ...row }))
        await store.update('used', 'pending', { status: 'used' })
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
      name: 'requests and decisions are there when the log is opened again',
      notApplicable: ({ capabilities }) =>
        capabilities.durable ? null : 'the adapter declares durable: false',
      async run({ open }) {
        const log = await open()
        await approvalsOf(log).request(approvalRow({ id: 'q' }))
        await approvalsOf(log).update('q', 'pending', answered)
        const before = await approvalsOf(log).list({})
        await log.close()
        assert.deepEqual(await approvalsOf(await open()).list({}), before)
      },
    },
    {
      name: 'a closed log refuses requests and decisions with TOOL_LOG_UNAVAILABLE',
      async run({ open }) {
        const log = await open()
        const store = approvalsOf(log)
        await log.close()
        await assertUnavailable(() => store.request(approvalRow({ id: 'q' })))
        await assertUnavailable(() => store.list({}))
      },
    },
  ],
}

function approvalsOf(log: ToolCallLog): ApprovalStore {
  assert.ok(log.approvals, 'the log declares approvals and has none')
  return log.approvals
}

const answered = {
  attempt: 2,
  toolCallId: 'call_2',
  status: 'used',
  decidedAtMs: sampleTimeMs + 1,
  decidedBy: 'Ada',
  comment: 'less',
  approvedArgsJson: '{"amount":50}',
  requestedAtMs: Number.MAX_SAFE_INTEGER,
} as const

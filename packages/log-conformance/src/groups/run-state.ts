import assert from 'node:assert/strict'
import { archiveKey } from '@smithers/tool-core/log'
import type { RunStateEntry, RunStateStore, ToolCallLog } from '@smithers/tool-core/log'
import { assertUnavailable } from '../assert-unavailable.ts'
import type { ConformanceGroup } from '../conformance-group.ts'
import { mustFinish, mustStart, sampleTimeMs, settled } from '../sample-row.ts'

export const runState: ConformanceGroup = {
  title: '13 run state',
  notApplicable: ({ capabilities }) =>
    capabilities.state === true ? null : 'the adapter declares no state',
  tests: [
    {
      name: 'a value comes back as it was stored, for its run and key alone',
      async run({ open }) {
        const store = runStateOf(await open())
        const entries = [
          entry({}),
          entry({ key: 'other' }),
          entry({ runId: 'other' }),
          entry({ runId: 'a\0b', key: '\uD800', valueJson: '"π\\ud800"' }),
          entry({ runId: 'a', key: '\0b', valueJson: '' }),
          entry({ runId: 'a', key: 'c', valueJson: '"\ud800"' }),
        ].map((given, index) => ({ ...given, updatedAtMs: sampleTimeMs + index }))
        assert.equal(await store.get('run-1', 'plan'), undefined)
        for (const one of entries) assert.equal(await store.set(one), true)
        for (const one of entries) assert.deepEqual(await store.get(one.runId, one.key), one)
      },
    },
    {
      name: 'a version must be one more than the stored one, from 1',
      async run({ open }) {
        const store = runStateOf(await open())
        assert.equal(await store.set(entry({ version: 0 })), false)
        assert.equal(await store.set(entry({ version: 2 })), false)
        assert.equal(await store.get('run-1', 'plan'), undefined)
        assert.equal(await store.set(entry({ version: 1, valueJson: '"a"' })), true)
        assert.equal(await store.set(entry({ version: 1, valueJson: '"b"' })), false)
        assert.equal(await store.set(entry({ version: 3, valueJson: '"c"' })), false)
        assert.equal(await store.set(entry({ version: 2, valueJson: '"d"' })), true)
        assert.deepEqual(await store.get('run-1', 'plan'), entry({ version: 2, valueJson: '"d"' }))
      },
    },
    {
      name: 'of many that write the same version at once one wins',
      async run({ open, options }) {
        const first = await open()
        const logs = options.capabilities.multiProcess
          ? [first, await open(), await open()]
          : [first]
        for (const version of [1, 2]) {
          const won = await Promise.all(
            Array.from({ length: 12 }, (_, index) => {
              const store = runStateOf(logs[index % logs.length] ?? first)
              return settled(() => store.set(entry({ version, valueJson: String(index) })))
            }),
          )
          assert.equal(won.filter(Boolean).length, 1)
          const stored = await runStateOf(first).get('run-1', 'plan')
          assert.equal(stored?.valueJson, String(won.indexOf(true)))
        }
      },
    },
    {
      name: 'values go with the last call of their run, an archived output with its own call',
      async run({ open }) {
        const log = await open()
        const store = runStateOf(log)
        const places: (readonly [name: string, runId: string, key: string])[] = []
        const keep = async (
          name: string,
          runId: string,
          key: string,
          at: number,
        ): Promise<void> => {
          places.push([name, runId, key])
          assert.equal(await store.set(entry({ runId, key, updatedAtMs: sampleTimeMs + at })), true)
        }
        for (const [index, runId] of ['a', 'b', 'c'].entries()) {
          const callToken = await mustFinish(log, { runId, startedAtMs: sampleTimeMs + 10 * index })
          await keep(`${runId}: plan`, runId, 'plan', 10 * index + 5)
          await keep(`${runId}: output`, runId, archiveKey(callToken), 10 * index + 5)
          await keep(`${runId}: lost output`, runId, archiveKey('gone'), 10 * index + 5)
        }
        await keep('new: plan', 'new', 'plan', 15)
        const left = async (): Promise<string[]> => {
          const names: string[] = []
          for (const [name, runId, key] of places) {
            if ((await store.get(runId, key)) !== undefined) names.push(name)
          }
          return names
        }
        await log.prune({ keepRuns: 4 })
        assert.equal((await left()).length, 10)
        await log.prune({ keepRuns: 2 })
        const later = [
          'b: plan',
          'b: output',
          'b: lost output',
          'c: plan',
          'c: output',
          'c: lost output',
        ]
        assert.deepEqual(await left(), [...later, 'new: plan'])
        await mustStart(log, { runId: 'b', seq: 2, startedAtMs: sampleTimeMs + 30 })
        await log.prune({ maxRows: 0 })
        assert.deepEqual(await left(), ['b: plan'])
      },
    },
    {
      name: 'values are there when the log is opened again',
      notApplicable: ({ capabilities }) =>
        capabilities.durable ? null : 'the adapter declares durable: false',
      async run({ open }) {
        const log = await open()
        await runStateOf(log).set(entry({}))
        await log.close()
        assert.deepEqual(await runStateOf(await open()).get('run-1', 'plan'), entry({}))
      },
    },
    {
      name: 'a closed log refuses values with TOOL_LOG_UNAVAILABLE',
      async run({ open }) {
        const log = await open()
        const store = runStateOf(log)
        await log.close()
        await assertUnavailable(() => store.set(entry({})))
        await assertUnavailable(() => store.get('run-1', 'plan'))
      },
    },
  ],
}

function runStateOf(log: ToolCallLog): RunStateStore {
  assert.ok(log.state, 'the log declares state and has none')
  return log.state
}

function entry(fields: Partial<RunStateEntry>): RunStateEntry {
  return {
    runId: 'run-1',
    key: 'plan',
    version: 1,
    valueJson: '[]',
    updatedAtMs: sampleTimeMs,
    ...fields,
  }
}

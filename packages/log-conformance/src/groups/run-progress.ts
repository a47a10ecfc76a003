import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConformanceGroup, Workbench } from '../conformance-group.ts'
import { startChild } from '../run-child.ts'
import { mustStart, sampleTimeMs, success } from '../sample-row.ts'
import { attemptEnd, attemptStart, runClaim } from '../sample-run.ts'
import { recordOf, runsOf, withoutRuns } from './run-leases.ts'

export const finishRuns: ConformanceGroup = {
  title: '18 runs: finish',
  notApplicable: withoutRuns,
  tests: [
    {
      name: 'finished tasks are numbered in the order in which they finish, and keep their outputs',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        for (const nodeId of ['a', 'b', 'c']) await runs.startAttempt(attemptStart({ nodeId }))
        await runs.finishAttempt(attemptEnd({ nodeId: 'c', outputJson: '"\\ud800"' }))
        await runs.finishAttempt(attemptEnd({ nodeId: 'a', outputJson: '' }))
        const failed = { status: 'failed', outputJson: null, errorJson: '{}' } as const
        await runs.finishAttempt(attemptEnd({ nodeId: 'b', ...failed }))
        assert.deepEqual(
          (await runs.tasks('run-1')).map((task) => [
            task.nodeId,
            task.status,
            task.finishOrder,
            task.outputJson,
          ]),
          [
            ['a', 'finished', 2, ''],
            ['b', 'failed', null, null],
            ['c', 'finished', 1, '"\\ud800"'],
          ],
        )
      },
    },
    {
      name: 'a task that is tried again keeps every attempt and its first start',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        await runs.startAttempt(attemptStart())
        const failed = { status: 'failed', outputJson: null, errorJson: '"no"' } as const
        await runs.finishAttempt(attemptEnd(failed))
        await runs.startAttempt(attemptStart({ attempt: 2, nowMs: sampleTimeMs + 5 }))
        const [task] = await runs.tasks('run-1')
        assert.equal(task?.attempt, 2)
        assert.equal(task.status, 'running')
        assert.equal(task.startedAtMs, sampleTimeMs + 1)
        assert.equal(task.errorJson, null)
        assert.deepEqual(
          (await runs.attempts('run-1')).map(({ attempt, status, errorJson }) => [
            attempt,
            status,
            errorJson,
          ]),
          [
            [1, 'failed', '"no"'],
            [2, 'running', null],
          ],
        )
      },
    },
    {
      name: 'a loop keeps its last iteration',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        const loop = { runId: 'run-1', loopId: 'l' }
        await runs.saveLoop({ ...loop, iteration: 0, finished: false }, 'one')
        await runs.saveLoop({ ...loop, iteration: 1, finished: true }, 'one')
        assert.deepEqual(await runs.loops('run-1'), [{ ...loop, iteration: 1, finished: true }])
      },
    },
    {
      name: 'a released run says how it ended, and can be claimed again at once',
      async run({ open }) {
        const runs = runsOf(await open())
        await runs.claim(runClaim({ leaseToken: 'one' }))
        await runs.nameWorkflow('run-1', 'one', 'bills')
        const end = { runId: 'run-1', leaseToken: 'one', nowMs: sampleTimeMs + 7 }
        await runs.release({ ...end, status: 'failed', errorJson: '"no"' })
        const [run] = await runs.list({})
        assert.deepEqual(
          [run?.status, run?.workflow, run?.errorJson, run?.finishedAtMs, run?.leaseToken],
          ['failed', 'bills', '"no"', sampleTimeMs + 7, null],
        )
        const again = await runs.claim(runClaim())
        assert.ok(again.ok)
        assert.deepEqual(
          [again.run.status, again.run.workflow, again.run.errorJson, again.run.finishedAtMs],
          ['running', 'bills', null, null],
        )
      },
    },
    {
      name: 'a run that its holder leaves queued or waiting keeps its progress, and can be claimed at once',
      async run({ open }) {
        const runs = runsOf(await open())
        for (const status of ['queued', 'waiting'] as const) {
          const at = { runId: status, leaseToken: 'one' }
          await runs.claim(runClaim(at))
          await runs.startAttempt(attemptStart(at))
          await runs.finishAttempt(attemptEnd(at))
          await runs.release({ ...at, status, errorJson: null, nowMs: sampleTimeMs + 7 })
          const [left] = await runs.list({ runId: status })
          assert.deepEqual([left?.status, left?.leaseToken, left?.ownerId], [status, null, null])
          const again = await runs.claim(runClaim({ runId: status, leaseToken: 'two' }))
          assert.ok(again.ok && !again.created)
          assert.equal(again.run.status, 'running')
          const [task] = await runs.tasks(status)
          assert.equal(task?.status, 'finished')
        }
      },
    },
    {
      name: 'prune removes finished runs whole, and open runs only when they are named',
      async run({ open }) {
        const log = await open()
        const runs = runsOf(log)
        const leaseToken = 'one'
        for (const runId of ['finished', 'failed', 'queued', 'waiting', 'running'] as const) {
          const call = await mustStart(log, { runId })
          await log.finish(call, success())
          await runs.claim(runClaim({ runId, leaseToken }))
          await runs.startAttempt(attemptStart({ runId }))
          await runs.finishAttempt(attemptEnd({ runId }))
          await runs.saveLoop({ runId, loopId: 'l', iteration: 1, finished: false }, leaseToken)
          if (runId === 'running') continue
          const nowMs = sampleTimeMs + 9
          await runs.release({ runId, leaseToken, status: runId, errorJson: null, nowMs })
        }
        const before = await recordOf(runs, 'failed')
        assert.equal(await log.prune({ maxRows: 0, finishedBeforeMs: sampleTimeMs + 10 }), 1)
        assert.deepEqual(await recordOf(runs, 'finished'), [[], [], [], []])
        assert.deepEqual(await recordOf(runs, 'failed'), before)
        assert.equal((await log.list({})).length, 4)
        // A run that a process holds stays, although it is named.
        assert.equal(await log.prune({ runs: ['failed', 'running'] }), 1)
        assert.deepEqual(await recordOf(runs, 'failed'), [[], [], [], []])
        const left = (await runs.list({})).map(({ runId }) => runId)
        assert.deepEqual(left, ['running', 'waiting', 'queued'])
        assert.equal((await log.list({})).length, 3)
      },
    },
  ],
}

export const crashedRuns: ConformanceGroup = {
  title: '19 runs: crash',
  notApplicable: (options) =>
    withoutRuns(options) ??
    (options.capabilities.durable ? null : 'the adapter declares durable: false'),
  tests: [
    {
      name: 'runs are there when the log is opened again',
      async run({ open }) {
        const log = await open()
        await runsOf(log).claim(runClaim({ leaseToken: 'one' }))
        await runsOf(log).startAttempt(attemptStart())
        const before = await recordOf(runsOf(log))
        await log.close()
        assert.deepEqual(await recordOf(runsOf(await open())), before)
      },
    },
    {
      name: 'a killed process loses no finished task, and its run can be taken over at once',
      async run(workbench) {
        const { randomCrashes = 20 } = workbench.options
        for (let crash = 0; crash < Math.min(randomCrashes, 8); crash += 1) {
          await killWhileRunning(workbench, `run-${crash}`)
        }
      },
    },
  ],
}

/** Far beyond what a process needs to open the log, also on a busy machine; within the time of the test. */
const longestFirstTaskMs = 200_000

async function killWhileRunning(workbench: Workbench, runId: string): Promise<void> {
  const { location, folder, options, open } = workbench
  const finishedFile = join(folder, runId)
  const job = { kind: 'run-until-killed' as const, location, runId, finishedFile }
  const child = await startChild(options, job)
  const ended = child.performUntilKilled()
  const deadline = performance.now() + longestFirstTaskMs
  while (!existsSync(finishedFile) && child.process.exitCode === null) {
    if (performance.now() > deadline) child.process.kill('SIGKILL')
    await sleep(1)
  }
  await sleep(Math.random() * 20)
  child.process.kill('SIGKILL')
  await ended
  const noted = readFileSync(finishedFile, 'utf8').trimEnd().split('\n').length
  const log = await open()
  const runs = runsOf(log)
  const finished = (await runs.tasks(runId)).filter(({ status }) => status === 'finished')
  assert.ok(finished.length >= noted, `${noted} tasks had finished, the log has ${finished.length}`)
  assert.deepEqual(
    finished.map((task) => [task.finishOrder, task.outputJson]),
    finished.map((_, index) => [index + 1, String(index + 1)]),
  )
  const taken = await runs.claim(runClaim({ runId }))
  assert.ok(taken.ok, 'the run of a dead process is refused')
  const running = (await runs.tasks(runId)).filter(({ status }) => status === 'running')
  assert.deepEqual(running, [])
  await log.close()
}

// The program of the processes that the suite starts. It reports when the adapter is loaded, waits for the word to
// begin so that several begin together, does one job and reports its answer.
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { MaybePromise, ToolCallLog } from '@smithers/tool-core/log'
import type { ChildAnswers, ChildJob, ChildOrder } from './child-job.ts'
import { mustStart, sampleRow, success } from './sample-row.ts'
import { attemptStart, runClaim } from './sample-run.ts'

// Far beyond what a holder needs: a log that never shows the end of a call must fail, not hang.
const longestHoldMs = 20_000

const order = JSON.parse(process.argv[2] ?? '') as ChildOrder
const { createLog } = (await import(order.processModule)) as {
  readonly createLog: (location: string) => MaybePromise<ToolCallLog>
}
// The parent has the answer, or has gone.
process.once('disconnect', () => process.exit())
const begun = new Promise((resolve) => process.once('message', resolve))
process.send?.({ ready: true })
await begun
const answer = await perform(order.job)
process.send?.({ answer })

async function perform(job: ChildJob): Promise<ChildAnswers[ChildJob['kind']]> {
  switch (job.kind) {
    case 'owner-id':
      return currentOwnerId()
    case 'pairs':
      return await writePairs(job)
    case 'claims':
      return await claimKeys(job)
    case 'crash':
      return await crash(job)
    case 'claim-runs':
      return await claimRuns(job)
    case 'run-until-killed':
      return await runUntilKilled(job)
    case 'recover':
      return await recover(job)
    case 'first-call':
      return await firstCall(job)
  }
}

async function writePairs({
  location,
  nodeId,
  pairs,
}: ChildJob & { kind: 'pairs' }): Promise<ChildAnswers['pairs']> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const log = await createLog(location)
  delay.enable()
  const errors: string[] = []
  for (let seq = 1; seq <= pairs; seq += 1) {
    try {
      const durability = seq % 10 === 0 ? 'fsync' : 'relaxed'
      const row = sampleRow({ nodeId, seq, idempotencyKey: `${nodeId}-${seq}` })
      const started = await log.start(row, { durability, claim: 'inflight' })
      const finished = await log.finish(row.callToken, success())
      if (!started.ok || finished !== 'ok')
        errors.push(`seq ${seq}: ${JSON.stringify([started, finished])}`)
    } catch (error) {
      errors.push(`seq ${seq}: ${String(error)}`)
    }
    // The tool's own work; also lets the event loop turn, whose delays are measured.
    await sleep(0)
  }
  delay.disable()
  await log.close()
  return { errors, longestBlockMs: delay.max / 1e6 }
}

/** Tries to run every key once, as seven other processes do at the same time. */
async function claimKeys({
  by,
  location,
  worker,
  keys,
  effectsFile,
}: ChildJob & { kind: 'claims' }): Promise<ChildAnswers['claims']> {
  const log = await createLog(location)
  for (let key = 1; key <= keys; key += 1) {
    const row = sampleRow({
      nodeId: `worker-${worker}`,
      seq: key,
      idempotencyKey: `key-${key}`,
      leaseExpiresAtMs: Number.MAX_SAFE_INTEGER,
    })
    // A key in flight is asked for again, so that the moment between two states of its row is hit often.
    for (const deadline = performance.now() + longestHoldMs; ;) {
      const result = await log.start(row, {
        durability: 'relaxed',
        ...(by === 'key' ? { claim: 'once' } : { claim: null, approvalId: `key-${key}` }),
      })
      if (result.ok) {
        appendFileSync(effectsFile, `key-${key}\n`)
        await log.finish(row.callToken, success())
        break
      }
      if (!('existing' in result)) throw new Error(`start was refused: ${result.reason}`)
      if (result.existing.status === 'success') break
      if (performance.now() > deadline) {
        throw new Error(`${row.idempotencyKey} is in flight for ${longestHoldMs} ms, in no process`)
      }
      await sleep(0)
    }
  }
  await log.close()
}

/** Makes calls whose effect is a line in a file, until the process kills itself at the point it was told, or is killed. */
async function crash({
  location,
  runId,
  killAt,
  effectsFile,
  startedFile,
  finishedFile,
}: ChildJob & { kind: 'crash' }): Promise<ChildAnswers['crash']> {
  const log = await createLog(location)
  for (let seq = 1; ; seq += 1) {
    const dieAt = (point: string): void => {
      if (seq === killAt?.call && point === killAt.point) process.kill(process.pid, 'SIGKILL')
    }
    dieAt('before the start')
    const callToken = await mustStart(log, { runId, seq })
    noteCall(startedFile, callToken)
    dieAt('after the start')
    noteCall(effectsFile, callToken)
    dieAt('after the effect')
    await log.finish(callToken, success())
    noteCall(finishedFile, callToken)
    dieAt('after the finish')
  }
}

/**
 * Writes that a call came this far. A process that is killed in `write` can leave the first page of what it wrote, so
 * each note has a length that divides a page.
 */
function noteCall(file: string, callToken: string): void {
  appendFileSync(file, `${callToken.padEnd(63)}\n`)
}

/** Tries to hold every run, as other processes do at the same time, and keeps those that it gets. */
async function claimRuns({
  location,
  runs,
  ownerId,
  heldFile,
}: ChildJob & { kind: 'claim-runs' }): Promise<ChildAnswers['claim-runs']> {
  const log = await createLog(location)
  for (let run = 1; run <= runs; run += 1) {
    const claimed = await log.runs?.claim(runClaim({ runId: `run-${run}`, ownerId }))
    if (claimed?.ok === true) appendFileSync(heldFile, `run-${run}\n`)
    await sleep(0)
  }
  await log.close()
}

/** Finishes one task of a run after the other, and notes each once the log has it, until the process is killed. */
async function runUntilKilled({
  location,
  runId,
  finishedFile,
}: ChildJob & { kind: 'run-until-killed' }): Promise<ChildAnswers['run-until-killed']> {
  const log = await createLog(location)
  const { runs } = log
  if (runs === undefined) throw new Error('The log declares runs and has none.')
  const claim = runClaim({ runId })
  await runs.claim(claim)
  for (let task = 1; ; task += 1) {
    const attempt = {
      ...attemptStart({ runId, nodeId: `task-${task}` }),
      leaseToken: claim.leaseToken,
    }
    await runs.startAttempt(attempt)
    const { iteration, nodeId, leaseToken, nowMs } = attempt
    await runs.finishAttempt({
      runId,
      leaseToken,
      nodeId,
      iteration,
      attempt: 1,
      status: 'finished',
      outputJson: String(task),
      errorJson: null,
      nowMs,
    })
    appendFileSync(finishedFile, `${task}\n`)
    await sleep(0)
  }
}

async function recover({
  location,
  nowMs,
}: ChildJob & { kind: 'recover' }): Promise<ChildAnswers['recover']> {
  const log = await createLog(location)
  const recovered = await log.recover({ nowMs })
  await log.close()
  return recovered
}

async function firstCall({
  location,
  nodeId,
}: ChildJob & { kind: 'first-call' }): Promise<ChildAnswers['first-call']> {
  const log = await createLog(location)
  await mustStart(log, { nodeId, idempotencyKey: nodeId }, { claim: 'inflight' })
  await log.close()
}

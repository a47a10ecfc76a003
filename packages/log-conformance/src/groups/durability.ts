import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { crashPoints } from '../child-job.ts'
import type { CrashPoint } from '../child-job.ts'
import type { ConformanceGroup, Workbench } from '../conformance-group.ts'
import { startChild } from '../run-child.ts'
import { failure, mustStart, success } from '../sample-row.ts'

/** Processes at a time; each has a log of its own, so that one process writes a log. */
const lanes = 4

export const durability: ConformanceGroup = {
  title: '6 durability',
  notApplicable: ({ capabilities }) =>
    capabilities.durable ? null : 'the adapter declares durable: false',
  tests: [
    {
      name: 'a log that is closed and opened again lists the same rows',
      async run({ open, location }) {
        const log = await open()
        await log.finish(await mustStart(log, { seq: 1, inputJson: '"π\\ud800"' }), success())
        await log.finish(await mustStart(log, { seq: 2 }), failure())
        await mustStart(log, { seq: 3, idempotencyKey: 'k' }, { claim: 'once' })
        const before = await log.list({})
        await log.close()
        const reopened = await open(location)
        assert.deepEqual(await reopened.list({}), before)
      },
    },
    ...crashPoints.map((point) => ({
      name: `a process killed ${point} leaves every effect with its row and loses no accepted row`,
      async run(workbench: Workbench) {
        const { crashesPerPoint = 20 } = workbench.options
        await crashInLanes(workbench, crashesPerPoint, { point })
      },
    })),
    {
      name: 'processes killed at random moments leave every effect with its row and lose no accepted row',
      async run(workbench) {
        const { randomCrashes = 20 } = workbench.options
        await crashInLanes(workbench, randomCrashes, { point: null })
      },
    },
  ],
}

async function crashInLanes(
  workbench: Workbench,
  crashes: number,
  { point }: { point: CrashPoint | null },
): Promise<void> {
  const witnesses = Array.from({ length: lanes }, (_, lane) => new Witness(workbench, lane))
  const lanesDone = await Promise.allSettled(
    witnesses.map(async (witness, lane) => {
      for (let crash = lane; crash < crashes; crash += lanes) {
        const runId = `run-${crash}`
        // Of eight, four die after an effect of theirs, the others perhaps while they open the log.
        if (point === null)
          await killAtRandom(witness, runId, { amongCalls: crash % (2 * lanes) < lanes })
        else await killAt(witness, runId, point)
        await witness.examine(point)
      }
    }),
  )
  // All lanes have ended, so the folder is unused when the test fails.
  for (const done of lanesDone) if (done.status === 'rejected') throw done.reason
  const effects = witnesses.flatMap((witness) => tokensIn(witness.files.effectsFile))
  if (point === null)
    assert.notEqual(effects.length, 0, 'no process lived long enough for an effect')
}

async function killAt(witness: Witness, runId: string, point: CrashPoint): Promise<void> {
  const call = 1 + Math.floor(Math.random() * 5)
  const child = await startChild(witness.workbench.options, {
    kind: 'crash',
    runId,
    killAt: { point, call },
    ...witness.files,
  })
  assert.equal(await child.performUntilKilled(), 'SIGKILL')
}

async function killAtRandom(
  witness: Witness,
  runId: string,
  { amongCalls }: { amongCalls: boolean },
): Promise<void> {
  const child = await startChild(witness.workbench.options, {
    kind: 'crash',
    runId,
    killAt: null,
    ...witness.files,
  })
  const before = witness.effectBytes()
  const killed = child.performUntilKilled()
  // Looked at only after the pauses; a process that ended by itself until then is no unhandled error.
  killed.catch(() => {})
  if (amongCalls) await untilEffect(witness, before)
  await sleep(Math.random() * 10)
  child.process.kill('SIGKILL')
  assert.equal(await killed, 'SIGKILL')
}

async function untilEffect(witness: Witness, before: number): Promise<void> {
  const deadline = performance.now() + longestFirstCallMs
  while (witness.effectBytes() === before && performance.now() < deadline) await sleep(1)
}

const longestFirstCallMs = 30_000

/** What calls of one lane did, told by files that the log has no part in. */
class Witness {
  readonly workbench: Workbench
  readonly files: {
    readonly location: string
    readonly effectsFile: string
    readonly startedFile: string
    readonly finishedFile: string
  }

  constructor(workbench: Workbench, lane: number) {
    this.workbench = workbench
    const file = (name: string): string => join(workbench.folder, `${name}-${lane}`)
    this.files = {
      location: file('log'),
      effectsFile: file('effects'),
      startedFile: file('started'),
      finishedFile: file('finished'),
    }
  }

  /** Grows with every effect. */
  effectBytes(): number {
    return statSync(this.files.effectsFile, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Compares the log with the facts. */
  async examine(point: CrashPoint | null): Promise<void> {
    const { location, effectsFile, startedFile, finishedFile } = this.files
    const { options, open } = this.workbench
    await options.checkIntegrity?.(location)
    const log = await open(location)
    const rows = await log.list({ limit: 1_000_000 })
    await log.close()

    const byToken = new Map(rows.map((row) => [row.callToken, row]))
    const started = tokensIn(startedFile)
    assertAllLogged(byToken, tokensIn(effectsFile), 'an effect has no row')
    assertAllLogged(byToken, started, 'an accepted start has no row')
    for (const token of tokensIn(finishedFile)) {
      assert.equal(byToken.get(token)?.status, 'success', 'an accepted finish was lost')
    }
    const last = started.at(-1)
    if (point === 'after the start' || point === 'after the effect') {
      assert.ok(last !== undefined, 'the process died before its first call')
      assert.equal(byToken.get(last)?.status, 'started')
    }
  }
}

function assertAllLogged(
  rows: ReadonlyMap<string, ToolCallRow>,
  tokens: readonly string[],
  complaint: string,
): void {
  const missing = tokens.filter((token) => !rows.has(token))
  assert.deepEqual(missing, [], `${complaint} (${missing.length} of ${tokens.length})`)
}

function tokensIn(file: string): string[] {
  if (!existsSync(file)) return []
  const notes = readFileSync(file, 'utf8').split('\n')
  return notes.map((note) => note.trim()).filter(Boolean)
}

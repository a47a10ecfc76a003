// Kills a run of five tasks, with parallel branches and a loop, at a random moment and resumes it; 50 times.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchArguments } from '../../../scripts/bench/effort.ts'
import { linesOfRun, runKilled } from '../test/fixtures/kill-rounds.ts'

const rounds = Number(benchArguments[0] ?? 50)
const directory = mkdtempSync(join(tmpdir(), 'smithers-killed-'))
const undisturbed = await runKilled(directory, [])
const count = { kills: 0, differing: 0, twice: 0, missingUnreported: 0, unknownReported: 0 }
for (let round = 0; round < rounds; round += 1) {
  const after = [Math.floor(Math.random() * linesOfRun), Math.floor(Math.random() * 20)]
  const run = await runKilled(directory, after)
  count.kills += run.killedAfter.length
  if (run.result !== undisturbed.result) count.differing += 1
  count.twice += [...run.effects.values()].filter((times) => times > 1).length
  for (const effect of undisturbed.effects.keys()) {
    if (run.effects.has(effect)) continue
    if (run.unknown.has(effect)) count.unknownReported += 1
    else count.missingUnreported += 1
  }
}
rmSync(directory, { recursive: true })

console.table([
  {
    runs: rounds,
    'SIGKILLs that met a live run': count.kills,
    'runs with other outputs': count.differing,
    'effects that happened twice': count.twice,
    'effects missing, reported unknown': count.unknownReported,
    'effects missing, not reported': count.missingUnreported,
  },
])
if (count.differing + count.twice + count.missingUnreported > 0) process.exitCode = 1

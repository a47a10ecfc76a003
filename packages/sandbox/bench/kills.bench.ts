/** Kills a process that writes a large file, 250 times: `pnpm bench kills [KILLS]`. Fails when one file is torn. */
import { benchArguments } from '../../../scripts/bench/effort.ts'
import { killWhileWriting } from '../test/fixtures/kill-while-writing.ts'

const kills = Number(benchArguments[0] ?? 250)
const startedAt = performance.now()
const atomic = await killWhileWriting({ kills, method: 'write' })
const control = await killWhileWriting({ kills: 100, method: 'in-place', untilTorn: true })
console.log(
  `files.write: ${atomic.torn} torn files after ${atomic.kills} kills (${atomic.versions} versions seen, ${atomic.leftovers} temporary files left)\n` +
    `in place:    ${control.torn} torn file after ${control.kills} kills\n` +
    `${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
)
if (atomic.torn > 0 || control.torn === 0) process.exitCode = 1

/**
 * Races every file operation against a process that exchanges directories and files with links that lead outside:
 * `pnpm bench races [OPERATIONS_PER_KIND] [DIRECTORY]`. Beside the guard runs the control, which checks with realpath
 * and then acts. The program fails when the guard lets one operation out, or when the control is not breached.
 */
import { cpus, release, tmpdir } from 'node:os'
import { createSandboxFiles } from '@smithers/sandbox'
import { benchArguments } from '../../../scripts/bench/effort.ts'
import { createNaiveFiles } from '../test/fixtures/naive-files.ts'
import { createRaceArena } from '../test/fixtures/race-arena.ts'
import { guardedFiles, race, raceKinds } from '../test/fixtures/raced-files.ts'
import type { RacedFiles } from '../test/fixtures/raced-files.ts'
import { startSwapper } from '../test/fixtures/swapper.ts'

const operations = Number(benchArguments[0] ?? 100_000)
const directory = benchArguments[1] ?? tmpdir()
const controlOperations = Math.min(operations, 10_000)

const arena = createRaceArena(directory)
const swapper = await startSwapper(arena.pairs)
const files = createSandboxFiles({ rootDir: arena.root })
const guarded = guardedFiles(files)
const naive = createNaiveFiles(arena.root)

console.log(
  `${operations} operations of each kind, attacked by ${swapper.method}, guard: ${files.guard}, in ${directory}\n` +
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}\n`,
)
console.log('kind             operations       done  escaped   µs/op   control  escaped')
const total = { operations: 0, escaped: 0, control: 0, controlEscaped: 0 }
for (const kind of Object.keys(raceKinds) as (keyof RacedFiles)[]) {
  const startedAt = performance.now()
  const ours = await race(kind, guarded, arena, operations)
  const microseconds = ((performance.now() - startedAt) * 1000) / operations
  const theirs = await race(kind, naive, arena, controlOperations)
  total.operations += ours.operations
  total.escaped += ours.escaped
  total.control += theirs.operations
  total.controlEscaped += theirs.escaped
  console.log(
    [
      kind.padEnd(16),
      String(ours.operations).padStart(10),
      String(ours.done).padStart(10),
      String(ours.escaped).padStart(8),
      microseconds.toFixed(0).padStart(7),
      String(theirs.operations).padStart(9),
      String(theirs.escaped).padStart(8),
    ].join(' '),
  )
}
await swapper.stop()
files.close()
arena.remove()
console.log(
  `\nguard:   ${total.escaped} escapes in ${total.operations} operations` +
    `\ncontrol: ${total.controlEscaped} escapes in ${total.control} operations`,
)
if (total.escaped > 0 || total.controlEscaped === 0) process.exitCode = 1

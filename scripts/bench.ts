/**
 * Runs benchmarks: `pnpm bench` lists them, `pnpm bench files` runs every `bench/files.bench.ts`.
 *
 * A benchmark is a plain program that prints a table; figures quoted in a README name the command that prints them.
 */
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { execa } from 'execa'

const [name, ...rest] = process.argv.slice(2)
const programs = globSync('{packages,apps}/*/bench/*.bench.ts').toSorted()
const chosen = programs.filter((program) => basename(program, '.bench.ts') === name)
if (chosen.length === 0) {
  const names = [...new Set(programs.map((program) => basename(program, '.bench.ts')))]
  console.log(`Usage: pnpm bench NAME\n\nNames: ${names.join(', ')}`)
  process.exitCode = name === undefined ? 0 : 2
}
for (const program of chosen) {
  const { exitCode } = await execa(
    process.execPath,
    ['--conditions=@smithers/source', '--expose-gc', program, ...rest],
    { stdio: 'inherit', reject: false },
  )
  if (exitCode !== 0) process.exitCode = 1
}

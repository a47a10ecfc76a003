/**
 * Runs benchmarks: `pnpm bench` lists them, `pnpm bench files` runs every `bench/files.bench.ts`, `pnpm bench files
 * --short` takes fewer rounds, and `pnpm bench --report [NAME…] [--redraw]` writes docs/benchmarks.md; with `--quick`, it
 * only tries the benchmarks and writes into a folder of temporary files.
 *
 * A benchmark is a plain program that publishes tables; figures quoted in a README name the command that prints them.
 */
import { globSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { execa } from 'execa'
import { report } from './bench/report.ts'

const given = process.argv.slice(2)
if (given.includes('--report')) {
  const names = given.filter((argument) => !argument.startsWith('--'))
  const isQuick = given.includes('--quick')
  // Figures of a few rounds must not replace real ones.
  const docs = isQuick ? mkdtempSync(join(tmpdir(), 'bench-report-')) : 'docs'
  await report(docs, {
    names,
    isQuick,
    isRedraw: given.includes('--redraw'),
  })
} else {
  await runByName(given[0], given.slice(1))
}

async function runByName(name: string | undefined, rest: readonly string[]): Promise<void> {
  const programs = globSync('{packages,apps}/*/bench/*.bench.ts').toSorted()
  const chosen = programs.filter((program) => basename(program, '.bench.ts') === name)
  if (chosen.length === 0) {
    const names = [...new Set(programs.map((program) => basename(program, '.bench.ts')))]
    console.log(
      `Usage: pnpm bench NAME [--short | --quick]\n       pnpm bench --report [NAME…] [--quick] [--redraw]\n\nNames: ${names.join(', ')}`,
    )
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
}

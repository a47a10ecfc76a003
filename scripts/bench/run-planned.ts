import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import type { Effort } from './effort.ts'
import { currentCommit, currentLoad, describeMachine, versionsOf } from './machine.ts'
import { idOf, type PlannedBench } from './plan.ts'
import { type Published, resultsVariable } from './publish.ts'
import type { BenchTable, NotRun } from './result.ts'
import type { StoredRun } from './stored-run.ts'

/**
 * Runs a benchmark in a process of its own and gathers what it publishes. One that fails, hangs or cannot run here keeps
 * the tables that it got to, and says why there are no more.
 */
export async function runPlanned(
  bench: PlannedBench,
  effort: Exclude<Effort, 'full'>,
): Promise<StoredRun> {
  const { name, folder, args, packages, programs } = bench
  const program = join(folder, 'bench', `${name}.bench.ts`)
  const command = ['pnpm', 'bench', name, ...args, `--${effort}`].join(' ')
  const startedAt = new Date()
  const load = currentLoad()
  const { published, failure } = await runProgram(bench, program, [...args, `--${effort}`])
  const tables: BenchTable[] = []
  const notRun: NotRun[] = []
  for (const each of published) {
    if ('table' in each) tables.push(each.table)
    else notRun.push({ ...each.notRun, why: withoutFolders(each.notRun.why) })
  }
  if (failure !== undefined) notRun.push({ what: `\`${command}\``, why: withoutFolders(failure) })
  return {
    id: idOf(bench),
    command,
    startedAt: startedAt.toISOString().slice(0, 16).replace('T', ' '),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    load,
    machine: describeMachine(),
    commit: currentCommit() ?? null,
    versions: versionsOf(resolve(folder), { packages, programs }),
    tables,
    notRun,
  }
}

async function runProgram(
  { limitSeconds }: PlannedBench,
  program: string,
  args: readonly string[],
): Promise<{ readonly published: readonly Published[]; readonly failure?: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-results-'))
  const file = join(folder, 'results')
  writeFileSync(file, '')
  try {
    const { exitCode, timedOut, stderr, signal } = await execa(
      process.execPath,
      ['--conditions=@smithers/source', '--expose-gc', program, ...args],
      {
        stdout: 'inherit',
        stderr: ['inherit', 'pipe'],
        reject: false,
        timeout: limitSeconds * 1000,
        env: { [resultsVariable]: file },
      },
    )
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const published = lines.map((line) => JSON.parse(line) as Published)
    if (timedOut) {
      return { published, failure: `It had not ended after ${limitSeconds} seconds.` }
    }
    if (signal !== undefined) return { published, failure: `It ended by ${signal}.` }
    // A program also ends with 1 when a goal is missed, which is a row of its table and needs no more words.
    const error = exitCode === 0 ? undefined : lastError(stderr)
    const failure = error ?? (published.length === 0 ? 'It has published nothing.' : undefined)
    return failure === undefined ? { published } : { published, failure }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The message of the error with which Node ended, if there is one. */
function lastError(stderr: string): string | undefined {
  const lines = stderr.split('\n').map((line) => line.trim())
  return lines.findLast((line) => /^(?:[A-Z]\w*)?Error\b[^:]*: /u.test(line))
}

/** A reason as the page shows it: folders of this machine tell a reader nothing. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<![\w:/])(?:file:\/\/)?\/(?:[^\s/'"]+\/)+/gu, '')
}

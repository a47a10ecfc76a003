import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { byEffort } from '../../../../scripts/bench/effort.ts'
import { atMost, type BenchRow, benchRow, figureOf } from '../../../../scripts/bench/result.ts'
import { textOf } from './file-jobs.ts'

const reads = 1000
const rounds = byEffort({ full: 7, short: 5, quick: 1 })
const program = fileURLToPath(new URL('./programs/reads-at-once.ts', import.meta.url))

interface Measured {
  readonly ms: number
  readonly growthMb: number
}

/** 1 000 reads of 1 KB at once, each time in a new process: milliseconds, and the memory that they take in MB. */
export function compareReadsAtOnce(root: string): {
  readonly time: BenchRow
  readonly memory: BenchRow
} {
  for (let index = 0; index < reads; index += 1) {
    writeFileSync(join(root, `at-once-${index}`), textOf(1024))
  }
  const measured: Record<'ours' | 'plain', Measured[]> = { ours: [], plain: [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['ours', 'plain'] as const) measured[kind].push(measure(root, kind))
  }
  const rowOf = (field: keyof Measured, goal: Parameters<typeof atMost>): BenchRow =>
    benchRow(figureOf(measured.ours.map((each) => each[field])), {
      job: '1 000 reads of 1 KB at once',
      beside: { name: 'readFile', ...figureOf(measured.plain.map((each) => each[field])) },
      goal: atMost(...goal),
    })
  return { time: rowOf('ms', [0.8]), memory: rowOf('growthMb', [30, 'median']) }
}

function measure(root: string, kind: 'ours' | 'plain'): Measured {
  const output = execFileSync(
    process.execPath,
    ['--conditions=@smithers/source', '--expose-gc', program, root, kind, String(reads)],
    { encoding: 'utf8' },
  )
  return JSON.parse(output) as Measured
}

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { textOf } from './file-jobs.ts'
import { median, report } from './rounds.ts'

const reads = 1000
const rounds = 7
const program = fileURLToPath(new URL('./programs/reads-at-once.ts', import.meta.url))

interface Measured {
  readonly ms: number
  readonly growthMb: number
}

/** 1 000 reads of 1 KB at once, each time in a new process. Returns how many promises were missed. */
export function compareReadsAtOnce(root: string): number {
  for (let index = 0; index < reads; index += 1) {
    writeFileSync(join(root, `at-once-${index}`), textOf(1024))
  }
  const measured: Record<'ours' | 'plain', Measured[]> = { ours: [], plain: [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['ours', 'plain'] as const) measured[kind].push(measure(root, kind))
  }
  const of = (kind: 'ours' | 'plain', field: keyof Measured): number =>
    median(measured[kind].map((each) => each[field]))
  const name = '1 000 reads of 1 KB at once : readFile'
  const met = [
    report(`${name}, ms`, of('ours', 'ms'), of('plain', 'ms'), 0.8),
    report(
      `growth of memory, MB (plain: ${of('plain', 'growthMb').toFixed(1)})`,
      of('ours', 'growthMb'),
      undefined,
      30,
      'MB',
    ),
  ]
  return met.filter((isMet) => !isMet).length
}

function measure(root: string, kind: 'ours' | 'plain'): Measured {
  const output = execFileSync(
    process.execPath,
    ['--conditions=@smithers/source', '--expose-gc', program, root, kind, String(reads)],
    { encoding: 'utf8' },
  )
  return JSON.parse(output) as Measured
}

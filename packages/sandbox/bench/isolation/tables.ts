import { benchCommand, byEffort } from '../../../../scripts/bench/effort.ts'
import { publish } from '../../../../scripts/bench/publish.ts'
import {
  atMost,
  type BenchRow,
  benchRow,
  type BenchTable,
  type Figure,
} from '../../../../scripts/bench/result.ts'
import type { Figures } from './measures.ts'

/** How often `true` is started one after the other. */
export const rounds: number = byEffort({ full: 250, short: 100, quick: 3 })

/** What every table of isolation has in common. */
const common = { command: benchCommand('isolation'), unit: 'ms', chart: 'ratio' } as const

type Heading = Pick<BenchTable, 'name' | 'title' | 'about' | 'rounds'> & Partial<BenchTable>

/** Publishes a row for each way to run a command, beside Node's own spawn, with the ratios that were promised. */
export function publishBesideSpawn(
  heading: Omit<Heading, 'rows'>,
  job: string,
  figures: Figures,
  goals: Readonly<Record<string, number>>,
): void {
  const spawn = figures.get('spawn')
  const rows = [...figures].map(([subject, figure]) =>
    rowOf(job, subject, figure, {
      spawn: subject === 'spawn' ? undefined : spawn,
      limit: goals[subject],
    }),
  )
  publish({ ...common, ...heading, rows })
}

/** Publishes a row for each backend, with one promise for those that are named. */
export function publishAmounts(
  heading: Omit<Heading, 'rows'>,
  job: string,
  figures: Figures,
  promise: { readonly limit: number; readonly of: readonly string[] },
): void {
  const rows = [...figures].map(([subject, figure]) =>
    benchRow(figure, {
      job,
      subject,
      isOurs: isOurs(subject),
      goal: promise.of.includes(subject) ? atMost(promise.limit, 'median') : undefined,
    }),
  )
  publish({ ...common, chart: 'median', ...heading, rows })
}

function rowOf(
  job: string,
  subject: string,
  figure: Figure,
  { spawn, limit }: { readonly spawn: Figure | undefined; readonly limit: number | undefined },
): BenchRow {
  return benchRow(figure, {
    job,
    subject,
    isOurs: isOurs(subject),
    beside: spawn === undefined ? undefined : { name: 'spawn', ...spawn },
    goal: limit === undefined ? undefined : atMost(limit),
  })
}

/** Everything but Node, bubblewrap by hand and sandbox-runtime. */
function isOurs(subject: string): boolean {
  return !['spawn', 'bwrap by hand, barest', 'sandbox-runtime'].includes(subject)
}

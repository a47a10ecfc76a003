import type { ClusterOutcome } from './run-cluster.ts'

/** The outcome as a table: what was wanted, and what the payment server has booked. */
export function clusterTable({
  counts,
  kills,
  interrupted,
  seconds,
  holds,
}: ClusterOutcome): string {
  const titles = [
    'workflow',
    'runs',
    'finished',
    'payments intended',
    'counted',
    'twice',
    'missing',
  ]
  const rows = counts.map((count) => [
    count.definition,
    count.runs,
    count.finished,
    count.intended,
    count.counted,
    count.twice,
    count.missing,
  ])
  const cells = [titles, ...rows.map((row) => row.map(String))]
  const widths = titles.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  const text = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
  return [
    '',
    ...text,
    '',
    `${kills} workers were killed with kill -9 in ${Math.round(seconds)} s, and ${interrupted} attempts were interrupted by it.`,
    holds
      ? 'Every run has finished, and every payment was made once.'
      : 'NOT every run has finished, or not every payment was made once.',
  ].join('\n')
}

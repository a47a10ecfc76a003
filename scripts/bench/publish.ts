import { appendFileSync } from 'node:fs'
import { figureText, ratioText, verdictText } from './figures-as-text.ts'
import { machineLine } from './machine.ts'
import { type BenchTable, type NotRun, verdictOf } from './result.ts'

/** The variable that names the file to which the report wants results appended, one JSON document a line. */
export const resultsVariable = 'SMITHERS_BENCH_RESULTS'

/** What a benchmark hands to the report. */
export type Published = { readonly table: BenchTable } | { readonly notRun: NotRun }

let hasPrinted = false

/** Prints what was measured and, where a report is made, hands it over. Returns how many goals are missed. */
export function publish(table: BenchTable): number {
  if (!hasPrinted) console.log(machineLine())
  hasPrinted = true
  console.log(`\n${terminalText(table)}`)
  handOver({ table })
  return table.rows.filter((row) => verdictOf(row) === 'missed').length
}

/** Says what cannot be measured here, and why. */
export function publishNotRun(notRun: NotRun): void {
  console.log(`\n${notRun.what}: not run. ${notRun.why}`)
  handOver({ notRun })
}

/** Does a part of a benchmark. When it fails, the others still run, and the report says what is missing and why. */
export async function attempt(what: string, part: () => Promise<void> | void): Promise<void> {
  try {
    await part()
  } catch (error) {
    process.exitCode = 1
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    publishNotRun({ what, why })
  }
}

function handOver(published: Published): void {
  const file = process.env[resultsVariable]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(published)}\n`)
}

/** A table as a terminal shows it. */
function terminalText({ title, rounds, unit, rows }: BenchTable): string {
  const cells = rows.map((row) => [
    row.subject === 'ours' ? row.job : `${row.job}, ${row.subject}`,
    figureText(row.median, unit),
    figureText(row.p95, unit),
    row.beside === null ? '' : `${figureText(row.beside.median, unit)} ${row.beside.name}`,
    row.ratio === null ? '' : ratioText(row.ratio),
    verdictText(row, unit).replace('missed', 'MISSED'),
    row.note ?? '',
  ])
  const lines = [['', 'median', 'p95', 'beside', 'ratio', 'goal', ''], ...cells]
  const widths = lines[0]?.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  const shown = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [`${title} (${rounds})`, ...shown].join('\n')
}

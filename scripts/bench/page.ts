import { figureText, ratioText, verdictText } from './figures-as-text.ts'
import { machineText } from './machine.ts'
import { introduction } from './page-text.ts'
import { type BenchRow, type BenchTable, type NotRun, verdictOf } from './result.ts'
import type { StoredRun } from './stored-run.ts'

/** The page of all results, as `oxfmt` would leave it. */
export function pageOf(runs: readonly StoredRun[], missing: readonly NotRun[] = []): string {
  return [
    '# Benchmarks',
    introduction,
    '## At a glance',
    glance(runs),
    ...runs.flatMap((run) => run.tables.map((table) => sectionOf(run, table))),
    ...notRunSection([...runs.flatMap(({ notRun }) => notRun), ...missing]),
    '## Machine and versions',
    provenance(runs),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/u, '\n')
}

function glance(runs: readonly StoredRun[]): string {
  const rows = runs
    .flatMap(({ tables }) => tables)
    .map((table) => {
      const verdicts = table.rows.map((row) => verdictOf(row))
      const count = (verdict: 'met' | 'missed'): number =>
        verdicts.filter((each) => each === verdict).length
      const missed = count('missed')
      return [
        `[${table.title}](#${anchorOf(table.title)})`,
        String(count('met')),
        missed === 0 ? '0' : `**${missed}**`,
      ]
    })
  return markdownTable(['table', 'goals met', 'goals missed'], rows)
}

function sectionOf(run: StoredRun, table: BenchTable): string {
  const missed = table.rows.filter((row) => verdictOf(row) === 'missed').length
  const summary = `${table.rounds}. ${run.startedAt} UTC, load ${run.load} when it began. \`${table.command}\``
  return [
    `## ${table.title}`,
    table.about,
    `![${altOf(table)}](images/benchmarks/${table.name}.svg)`,
    tableOf(table),
    missed === 0
      ? summary
      : `${missed === 1 ? 'One goal is' : `${missed} goals are`} missed. ${summary}`,
  ].join('\n\n')
}

function altOf({ title, rows }: BenchTable): string {
  return `Bar chart: ${title}. The table below has its ${rows.length} rows.`
}

function tableOf(table: BenchTable): string {
  const columns = columnsOf(table)
  return markdownTable(
    columns.map(({ head }) => head),
    table.rows.map((row) => columns.map(({ cell }) => cell(row))),
  )
}

interface Column {
  readonly head: string
  cell(row: BenchRow): string
}

/** Only the columns that have something to say. */
function columnsOf({ unit, rows }: BenchTable): readonly Column[] {
  const has = (field: 'p95' | 'beside' | 'ratio' | 'goal' | 'note'): boolean =>
    rows.some((row) => row[field] !== null)
  const all: readonly (Column & { readonly isShown: boolean })[] = [
    { head: 'job', isShown: true, cell: ({ job }) => job },
    {
      head: 'by',
      isShown: rows.some(({ subject }) => subject !== 'ours'),
      cell: ({ subject }) => subject,
    },
    { head: 'median', isShown: true, cell: ({ median }) => figureText(median, unit) },
    { head: 'p95', isShown: has('p95'), cell: ({ p95 }) => figureText(p95, unit) },
    {
      head: 'beside',
      isShown: has('beside'),
      cell: ({ beside }) =>
        beside === null ? '–' : `${figureText(beside.median, unit)} (${beside.name})`,
    },
    { head: 'ratio', isShown: has('ratio'), cell: ({ ratio }) => ratioText(ratio) },
    {
      head: 'goal',
      isShown: has('goal'),
      cell: (row) => verdictText(row, unit).replace('missed', '**missed**') || '–',
    },
    { head: 'note', isShown: has('note'), cell: ({ note }) => note ?? '–' },
  ]
  return all.filter(({ isShown }) => isShown)
}

function notRunSection(notRun: readonly NotRun[]): string[] {
  const rows = notRun.map(({ what, why }) => [what, why])
  return rows.length === 0 ? [] : ['## Not measured', markdownTable(['what', 'why'], rows)]
}

function provenance(runs: readonly StoredRun[]): string {
  const machines = [...new Set(runs.map(({ machine }) => machineText(machine)))]
  const rows = runs.map(({ command, startedAt, seconds, load, commit, versions }) => [
    `\`${command}\``,
    startedAt,
    `${seconds} s`,
    String(load),
    commit ?? '–',
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ') || '–',
  ])
  return [
    `${machines.join('; ')}.`,
    markdownTable(['command', 'began, UTC', 'took', 'load', 'commit', 'beside us'], rows),
  ].join('\n\n')
}

/** Padded as `oxfmt` pads it. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(cellText))
  const widths = head.map((_, column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first = [], ...others] = cells
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join(
    '\n',
  )
}

function cellText(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll(/\s+/gu, ' ')
}

/** As GitHub and the site make it. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')
}

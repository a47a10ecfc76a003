import { figureText, goalText, ratioText } from './figures-as-text.ts'
import { type BenchRow, type BenchTable, verdictOf } from './result.ts'

/**
 * The picture of a table: a bar for each row, as SVG.
 *
 * Written by hand, not by a library: Plot and Chart.js draw into a DOM, Vega brings several megabytes, and bars with
 * their figures beside them need no axis, so nothing is left that a library of scales would do but one logarithm.
 */
export function chartOf(table: BenchTable): string {
  const rows = table.rows.filter((row) => valueOf(table, row) !== null)
  const scale = scaleOf(table, rows)
  const top = 56
  const legend = legendOf(table, scale)
  const height = top + rows.length * rowHeight + 14 + legend.length * 20
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title id="title">${escaped(table.title)}</title>`,
    `<desc id="desc">${escaped(descriptionOf(table, rows, scale))}</desc>`,
    `<style>${style}</style>`,
    missedPattern,
    `<rect class="panel" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<text class="title" x="${margin}" y="30">${escaped(table.title)}</text>`,
    ...referenceOf(table, scale, top, top + rows.length * rowHeight),
    ...rows.flatMap((row, index) => barOf(table, row, { y: top + index * rowHeight, scale })),
    ...legend.map(
      (line, index) =>
        `<text class="muted" x="${margin}" y="${height - 14 - (legend.length - 1 - index) * 20}">${escaped(line)}</text>`,
    ),
    '</svg>',
  ].join('\n')}\n`
}

const width = 640
const margin = 20
const rowHeight = 46
const barHeight = 14
const longest = 300

/** Its colours have the contrast that text and shapes need on the panel, which covers whatever page lies behind. */
export const palettes = {
  light: {
    panel: '#ffffff',
    edge: '#d0d7de',
    text: '#1f2328',
    muted: '#57606a',
    ours: '#0b6bcb',
    peer: '#6e7781',
    missed: '#b93a08',
  },
  dark: {
    panel: '#161b22',
    edge: '#3d444d',
    text: '#e6edf3',
    muted: '#9da7b3',
    ours: '#4ea1ff',
    peer: '#8b949e',
    missed: '#ff8a5c',
  },
} as const

const style = [
  `text{font:14px system-ui,sans-serif}.title{font-size:16px;font-weight:600}.value{font-weight:600}.label,.value{paint-order:stroke;stroke-width:5}`,
  `.reference{stroke-dasharray:4 3}.goal{stroke-width:3}`,
  coloursOf('light'),
  `@media(prefers-color-scheme:dark){${coloursOf('dark')}}`,
].join('')

function coloursOf(theme: keyof typeof palettes): string {
  const { panel, edge, text, muted, ours, peer, missed } = palettes[theme]
  return [
    `.panel{fill:${panel};stroke:${edge}}`,
    `.label,.value{stroke:${panel}}.title,.label,.value{fill:${text}}.muted{fill:${muted}}`,
    `.ours{fill:${ours}}.peer{fill:${peer}}.stripe{stroke:${missed}}.missed{stroke:${missed}}`,
    `.reference{stroke:${muted}}.goal{stroke:${text}}.late{fill:${missed}}`,
  ].join('')
}

// Stripes and words say that a goal is missed, for those who see no colours.
const missedPattern =
  '<defs><pattern id="missed" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
  '<line class="stripe" x1="2" y1="0" x2="2" y2="7" stroke-width="4"/></pattern></defs>'

interface Scale {
  readonly isLogarithmic: boolean
  /** The length of a bar. */
  length(value: number): number
}

function valueOf({ chart }: BenchTable, { ratio, median }: BenchRow): number | null {
  const value = chart === 'ratio' ? ratio : median
  return value === null || !Number.isFinite(value) ? null : value
}

/** From zero; or by powers of ten where the largest value is fifty times the smallest. */
function scaleOf(table: BenchTable, rows: readonly BenchRow[]): Scale {
  const values = rows.flatMap((row) => [valueOf(table, row) ?? 0, goalValue(table, row) ?? 0])
  if (table.chart === 'ratio') values.push(1)
  const positive = values.filter((value) => value > 0)
  const most = Math.max(...positive, Number.MIN_VALUE)
  const least = Math.min(...positive, most)
  const hasZero = rows.some((row) => valueOf(table, row) === 0)
  if (hasZero || most / least < 50) {
    return { isLogarithmic: false, length: (value) => (value / most) * longest }
  }
  const first = Math.floor(Math.log10(least))
  const decades = Math.log10(most) - first
  return {
    isLogarithmic: true,
    length: (value) => ((Math.log10(value) - first) / decades) * longest,
  }
}

/** Where the goal lies on the scale of the picture, if it is of what the picture shows. */
function goalValue({ chart }: BenchTable, { goal }: BenchRow): number | null {
  return goal !== null && goal.of === chart ? goal.limit : null
}

function barOf(
  table: BenchTable,
  row: BenchRow,
  { y, scale }: { readonly y: number; readonly scale: Scale },
): string[] {
  const value = valueOf(table, row) ?? 0
  const length = Math.max(1, scale.length(value))
  const isMissed = verdictOf(row) === 'missed'
  const goal = goalValue(table, row)
  const barY = y + 8
  const goalX = goal === null ? null : position(margin + scale.length(goal))
  const shape = `x="${margin}" y="${barY}" width="${position(length)}" height="${barHeight}"`
  return [
    `<text class="label" x="${margin}" y="${y}">${escaped(labelOf(table, row))}</text>`,
    `<rect class="${row.isOurs ? 'ours' : 'peer'}" ${shape}/>`,
    ...(isMissed ? [`<rect class="missed" fill="url(#missed)" ${shape}/>`] : []),
    ...(goalX === null
      ? []
      : [
          `<line class="goal" x1="${goalX}" x2="${goalX}" y1="${barY - 3}" y2="${barY + barHeight + 3}"/>`,
        ]),
    `<text class="value${isMissed ? ' late' : ''}" x="${position(margin + Math.max(length, goal === null ? 0 : scale.length(goal)) + 8)}" y="${barY + 12}">${escaped(valueText(table, row))}</text>`,
  ]
}

/** Where the yardstick's own bar would end. */
function referenceOf(table: BenchTable, scale: Scale, from: number, to: number): string[] {
  if (table.chart === 'median') return []
  const x = position(margin + scale.length(1))
  return [`<line class="reference" x1="${x}" x2="${x}" y1="${from + 4}" y2="${to - 16}"/>`]
}

/** What is compared with only where it differs from row to row: else the legend says it. */
function labelOf({ rows }: BenchTable, { job, subject, beside }: BenchRow): string {
  const jobs = new Set(rows.map((row) => row.job))
  const who = subject === 'ours' ? job : jobs.size === 1 ? subject : `${job}: ${subject}`
  return beside === null || commonYardstick(rows) !== null ? who : `${who}, beside ${beside.name}`
}

function commonYardstick(rows: readonly BenchRow[]): string | null {
  const names = new Set(rows.flatMap(({ beside }) => beside?.name ?? []))
  const [name = null] = names
  return names.size === 1 ? name : null
}

function valueText(table: BenchTable, row: BenchRow): string {
  const value = table.chart === 'ratio' ? ratioText(row.ratio) : figureText(row.median, table.unit)
  const verdict = verdictOf(row)
  if (row.goal === null || verdict === null) return value
  const goal = goalText(row.goal, table.unit)
  return verdict === 'missed' ? `${value}, missed: ${goal}` : `${value}, goal ${goal}`
}

function legendOf({ chart, rows }: BenchTable, { isLogarithmic }: Scale): readonly string[] {
  const yardstick = `1 × is what ${commonYardstick(rows) ?? 'the other'} takes in the same run (dashed line).`
  const marks = [
    ...(rows.some((row) => row.goal?.of === chart) ? ['Thick mark: goal.'] : []),
    ...(isLogarithmic ? ['Logarithmic scale.'] : []),
  ].join(' ')
  return [chart === 'ratio' ? yardstick : '', marks].filter((line) => line !== '')
}

function descriptionOf(table: BenchTable, rows: readonly BenchRow[], scale: Scale): string {
  const said = rows.map((row) => `${labelOf(table, row)}: ${valueText(table, row)}`)
  return `Bar chart. ${said.join('. ')}. ${legendOf(table, scale).join(' ')}`.trim()
}

function position(value: number): string {
  return String(Number(value.toFixed(1)))
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

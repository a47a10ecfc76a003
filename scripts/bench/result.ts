/** The time, size or share that a number of rounds came to. */
export interface Figure {
  readonly median: number
  /** Null where the rounds are too few, or where the best of them is what counts. */
  readonly p95: number | null
}

/** What was promised: of the median, of its ratio to the figure beside it, or of their difference. */
export interface Goal {
  readonly of: 'median' | 'ratio' | 'difference'
  readonly is: 'at most' | 'at least'
  readonly limit: number
}

/** One subject doing one job, and what it is compared with. */
export interface BenchRow extends Figure {
  readonly job: string
  /** Who does it, such as `landlock, sandbox.run`. */
  readonly subject: string
  /** False for a peer or a raw call that is listed for comparison. */
  readonly isOurs: boolean
  /** What did the same job in the same run. */
  readonly beside: (Figure & { readonly name: string }) | null
  /** The median by the one beside it, or the median of the ratios within the rounds. Null without anything beside. */
  readonly ratio: number | null
  readonly goal: Goal | null
  /** What a figure cannot say, in a few words. */
  readonly note: string | null
}

export type Unit = 'µs' | 'ms' | 'MB' | 'kB' | '%' | 'pairs/s' | 'operations' | 'bytes'

/** What a benchmark has measured under one heading. */
export interface BenchTable {
  /** Names the picture and the anchor: lower case and hyphens. */
  readonly name: string
  readonly title: string
  /** What is done and how, in one or two sentences of Markdown. */
  readonly about: string
  /** What prints this table. */
  readonly command: string
  /** How many rounds a median is of, or how long each took. */
  readonly rounds: string
  readonly unit: Unit
  /** What the bars of the picture show. */
  readonly chart: 'ratio' | 'median'
  readonly rows: readonly BenchRow[]
}

/** Something that could not be measured here. */
export interface NotRun {
  readonly what: string
  readonly why: string
}

/** What stands in a row beside its figure; all but the figure can be left out. */
interface RowFields {
  readonly job: string
  readonly subject?: string
  readonly isOurs?: boolean
  readonly beside?: (Figure & { readonly name: string }) | undefined
  /** Null where a ratio says nothing, as beside next to nothing. @default the median by the one beside it */
  readonly ratio?: number | null
  readonly goal?: Goal | undefined
  readonly note?: string
}

export function benchRow(figure: Figure, fields: RowFields): BenchRow {
  const beside = fields.beside ?? null
  const quotient = beside === null ? null : figure.median / beside.median
  const ratio = fields.ratio === undefined ? quotient : fields.ratio
  return {
    job: fields.job,
    subject: fields.subject ?? 'ours',
    isOurs: fields.isOurs ?? true,
    median: rounded(figure.median),
    p95: figure.p95 === null ? null : rounded(figure.p95),
    beside:
      beside === null
        ? null
        : {
            name: beside.name,
            median: rounded(beside.median),
            p95: beside.p95 === null ? null : rounded(beside.p95),
          },
    ratio: ratio === null || !Number.isFinite(ratio) ? null : rounded(ratio),
    goal: fields.goal ?? null,
    note: fields.note ?? null,
  }
}

/** Four digits say all that a benchmark knows, and keep the stored results short. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

export function atMost(limit: number, of: Goal['of'] = 'ratio'): Goal {
  return { of, is: 'at most', limit }
}

export function atLeast(limit: number, of: Goal['of'] = 'median'): Goal {
  return { of, is: 'at least', limit }
}

/** Whether a row keeps its promise. A goal whose figure is missing counts as missed: it was not shown to be met. */
export function verdictOf({ goal, median, ratio, beside }: BenchRow): 'met' | 'missed' | null {
  if (goal === null) return null
  const values = {
    median,
    ratio: ratio ?? Number.NaN,
    difference: median - (beside?.median ?? Number.NaN),
  }
  const value = values[goal.of]
  const isMet = goal.is === 'at most' ? value <= goal.limit : value >= goal.limit
  return isMet ? 'met' : 'missed'
}

/** The middle of the times, and the time that nineteen of twenty stay below. */
export function figureOf(times: readonly number[]): Figure {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { median: at(0.5), p95: sorted.length < 20 ? null : at(0.95) }
}

/** A figure that is no median of times, such as the best of a few rounds. */
export function single(value: number): Figure {
  return { median: value, p95: null }
}

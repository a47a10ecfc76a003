import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import { pageOf } from './page.ts'
import { idOf, plan, type PlannedBench } from './plan.ts'
import { runPlanned } from './run-planned.ts'
import { readRuns, type StoredRun, writeRun } from './stored-run.ts'

/** Where the page and what belongs to it are, in a folder of documents. */
export interface ReportPlaces {
  readonly page: string
  readonly results: string
  readonly pictures: string
}

export function reportPlaces(docs: string): ReportPlaces {
  return {
    page: join(docs, 'benchmarks.md'),
    results: join(docs, 'benchmarks/results'),
    pictures: join(docs, 'images/benchmarks'),
  }
}

export interface ReportOptions {
  /** Benchmarks by name; all without one. */
  readonly names: readonly string[]
  /** A few rounds only, to see that everything works. The figures say nothing. */
  readonly isQuick: boolean
  /** Draws what is stored, and measures nothing. */
  readonly isRedraw: boolean
}

/** Measures, stores, and draws the page from all that is stored. */
export async function report(docs: string, options: ReportOptions): Promise<void> {
  const places = reportPlaces(docs)
  if (!options.isRedraw) {
    for (const bench of chosenBenches(options.names)) {
      console.log(`\n# ${bench.name}`)
      writeRun(places.results, await runPlanned(bench, options.isQuick ? 'quick' : 'short'))
    }
  }
  const runs = readRuns(places.results, plan.map(idOf))
  draw(places, runs)
  const failures = runs.flatMap(({ notRun }) => notRun)
  for (const { what, why } of failures) console.log(`Not measured: ${what}. ${why}`)
  console.log(`\n${places.page}: ${runs.flatMap(({ tables }) => tables).length} tables`)
}

function chosenBenches(names: readonly string[]): readonly PlannedBench[] {
  const known = plan.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(
      `The report has no benchmark ${unknown.join(', ')}. Choose of ${known.join(', ')}.`,
    )
  return names.length === 0 ? plan : plan.filter(({ name }) => names.includes(name))
}

/** Every file that the stored runs give, by its path. */
export function drawn(
  { page, pictures }: ReportPlaces,
  runs: readonly StoredRun[],
): ReadonlyMap<string, string> {
  const stored = new Set(runs.map(({ id }) => id))
  const missing = plan
    .filter((bench) => !stored.has(idOf(bench)))
    .map(({ name, folder }) => ({
      what: `\`pnpm bench ${name}\` of ${folder}`,
      why: 'No result is stored.',
    }))
  const tables = runs.flatMap((run) => run.tables)
  return new Map([
    [page, pageOf(runs, missing)],
    ...tables.map((table) => [join(pictures, `${table.name}.svg`), chartOf(table)] as const),
  ])
}

function draw(places: ReportPlaces, runs: readonly StoredRun[]): void {
  const files = drawn(places, runs)
  mkdirSync(places.pictures, { recursive: true })
  for (const name of readdirSync(places.pictures)) {
    const path = join(places.pictures, name)
    if (!files.has(path)) rmSync(path)
  }
  for (const [path, text] of files) writeFileSync(path, text)
}

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from './machine.ts'
import type { BenchTable, NotRun } from './result.ts'

/** One benchmark of one report: what it measured, where and when. */
export interface StoredRun {
  readonly id: string
  readonly command: string
  /** In UTC, to the minute. */
  readonly startedAt: string
  readonly seconds: number
  /** The average load of the minute before it began. */
  readonly load: number
  readonly machine: Machine
  readonly commit: string | null
  readonly versions: Readonly<Record<string, string>>
  readonly tables: readonly BenchTable[]
  readonly notRun: readonly NotRun[]
}

export function writeRun(directory: string, run: StoredRun): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${run.id}.json`), `${JSON.stringify(run, null, 2)}\n`)
}

/** The stored runs with these ids, in their order; those that were never stored are left out. */
export function readRuns(directory: string, ids: readonly string[]): readonly StoredRun[] {
  const stored = new Set(readdirSync(directory))
  return ids
    .filter((id) => stored.has(`${id}.json`))
    .map((id) => JSON.parse(readFileSync(join(directory, `${id}.json`), 'utf8')) as StoredRun)
}

import { existsSync } from 'node:fs'
import { createSqliteRunStore } from '@smithers/workflow/sqlite-store'
import type { RunRow, RunStore } from '@smithers/workflow'
import { badInput } from '../command-failure.ts'

/** The runs recorded in the file of a log. Never creates a file. */
export function openExistingRunStore(path: string): RunStore {
  if (!existsSync(path)) {
    throw badInput(`There is no log at ${path}. "smithers up WORKFLOW --log ${path}" makes one.`)
  }
  return createSqliteRunStore({ path })
}

/** A run that must be there. */
export async function knownRun(store: RunStore, runId: string, path: string): Promise<RunRow> {
  const [run] = await store.runs({ runId })
  if (run !== undefined) return run
  throw badInput(`${path} has no run ${runId}. "smithers runs --log ${path}" lists those it has.`)
}

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

/**
 * The runs of a file that is created when a run begins, so that a run that is refused leaves no file. The log beside
 * them has checked that the file can be opened.
 */
export function openRunStoreForRun(path: string): RunStore {
  if (existsSync(path)) return createSqliteRunStore({ path })
  let store: RunStore | undefined
  const use = (): RunStore => (store ??= createSqliteRunStore({ path }))
  return {
    name: 'sqlite',
    capabilities: { durable: true, multiProcess: true },
    claim: (request) => use().claim(request),
    renew: (...lease) => use().renew(...lease),
    nameWorkflow: (...name) => use().nameWorkflow(...name),
    release: (end) => use().release(end),
    startAttempt: (start) => use().startAttempt(start),
    finishAttempt: (end) => use().finishAttempt(end),
    saveLoop: (...loop) => use().saveLoop(...loop),
    // Nothing has been recorded, so there is nothing to find: looking must not create the file.
    runs: (query) => store?.runs(query) ?? [],
    tasks: (runId) => store?.tasks(runId) ?? [],
    attempts: (runId) => store?.attempts(runId) ?? [],
    loops: (runId) => store?.loops(runId) ?? [],
    close: () => store?.close(),
  }
}

/** A run that must be there. */
export async function knownRun(store: RunStore, runId: string, path: string): Promise<RunRow> {
  const [run] = await store.runs({ runId })
  if (run !== undefined) return run
  throw badInput(`${path} has no run ${runId}. "smithers runs --log ${path}" lists those it has.`)
}

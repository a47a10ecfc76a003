import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createSqliteLog, type SqliteLog } from '@smithers/log-sqlite'
import type {
  ApprovalStore,
  RunStateStore,
  RunStore,
  TaskAttempt,
  ToolCallLog,
} from '@smithers/tool-core/log'
import { isDirectory } from '../sandbox/root-directory.ts'
import { badInput } from '../errors/command-failure.ts'
import { foreignDatabase } from './foreign-database.ts'
import { isPostgres } from './log-target.ts'
import { withPostgres } from './open-postgres-log.ts'

/** A log that holds runs and approvals too, as both SQL logs do. */
export interface OpenLog extends ToolCallLog {
  readonly approvals: ApprovalStore
  readonly state: RunStateStore
  readonly runs: RunStore
}

/**
 * The log of an earlier run. Never creates a file or a log in one.
 *
 * @param schema Of a log in PostgreSQL. @default 'public'
 */
export async function openExistingLog(target: string, schema?: string): Promise<OpenLog> {
  if (isPostgres(target)) {
    return await openPostgres(target, { migrate: false, ...(schema !== undefined && { schema }) })
  }
  if (!existsSync(target)) {
    throw badInput(
      `There is no log at ${target}. The first call that is recorded in it creates it; --log names another one.`,
    )
  }
  const other = await foreignDatabase(target)
  if (other !== undefined) {
    throw badInput(
      `${target} is no log: it is ${other}, and was not changed. Give the file that calls are recorded in with --log.`,
    )
  }
  return opened(target)
}

/**
 * The log of a run. An existing file is opened, and refused when it is not a log. A missing file is created when the
 * first call is recorded, so that a run without calls leaves no file.
 */
export async function openLogForRun(target: string): Promise<OpenLog> {
  if (isPostgres(target)) return await openPostgres(target, { migrate: true })
  if (existsSync(target)) return opened(target)
  const folder = dirname(resolve(target))
  if (!isDirectory(folder)) {
    throw badInput(
      `The log's folder ${folder} does not exist. Create it, or give another --log FILE.`,
    )
  }
  return createdOnFirstUse(() => opened(target))
}

function openPostgres(
  connectionString: string,
  options: { readonly migrate: boolean; readonly schema?: string },
): Promise<OpenLog> {
  return withPostgres(connectionString, ({ createPostgresLog }) =>
    createPostgresLog({ connectionString, ...options }),
  )
}

function opened(path: string): SqliteLog {
  if (isDirectory(path)) throw badInput(`The log ${path} is a directory. Give a file.`)
  try {
    return createSqliteLog({ path })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw badInput(`The log ${path} cannot be opened: ${reason}`, error)
  }
}

/** Of a SQLite file, whether it is there or not. */
const capabilities = {
  durable: true,
  multiProcess: true,
  claims: true,
  approvals: true,
  state: true,
  runs: true,
  attempts: true,
}

function createdOnFirstUse(open: () => SqliteLog): OpenLog {
  let log: SqliteLog | undefined
  let closed = false
  const begun: TaskAttempt[] = []
  const use = (): SqliteLog => {
    if (closed) throw new Error('The log is closed.')
    if (log === undefined) {
      log = open()
      for (const attempt of begun) void log.beginAttempt?.(attempt)
    }
    return log
  }
  return {
    name: 'sqlite',
    capabilities,
    beginAttempt: (attempt) => {
      if (log !== undefined) return log.beginAttempt?.(attempt) ?? 'ok'
      // An attempt that makes no call creates no file.
      begun.push(attempt)
      return 'ok'
    },
    approvals: {
      request: (row) => use().approvals.request(row),
      update: (id, expected, patch) => use().approvals.update(id, expected, patch),
      list: (query) => (log === undefined ? [] : log.approvals.list(query)),
    },
    state: {
      get: (runId, key) => log?.state.get(runId, key),
      set: (entry) => use().state.set(entry),
    },
    runs: {
      claim: (request) => use().runs.claim(request),
      renew: (...lease) => use().runs.renew(...lease),
      nameWorkflow: (...name) => use().runs.nameWorkflow(...name),
      release: (end) => use().runs.release(end),
      startAttempt: (start) => use().runs.startAttempt(start),
      finishAttempt: (end) => use().runs.finishAttempt(end),
      saveLoop: (...loop) => use().runs.saveLoop(...loop),
      list: (query) => log?.runs.list(query) ?? [],
      tasks: (runId) => log?.runs.tasks(runId) ?? [],
      attempts: (runId) => log?.runs.attempts(runId) ?? [],
      loops: (runId) => log?.runs.loops(runId) ?? [],
    },
    start: (row, options) => use().start(row, options),
    finish: (callToken, patch) => use().finish(callToken, patch),
    renew: (callToken, leaseExpiresAtMs) => use().renew(callToken, leaseExpiresAtMs),
    // Nothing has been recorded yet. Reading must not create the file.
    list: (query) => log?.list(query) ?? [],
    recover: (query) => log?.recover(query) ?? 0,
    prune: (query) => log?.prune(query) ?? 0,
    close: () => {
      closed = true
      return log?.close()
    },
  }
}

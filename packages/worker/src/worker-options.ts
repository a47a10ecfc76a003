import { hostname } from 'node:os'
import { type RunStore, SmithersError, type ToolCallLog } from '@smithers/tool-core'
import type { RunWorkflowOptions, WorkflowDefinition } from '@smithers/workflow'
import type pg from 'pg'
import { assertName } from './job.ts'
import type { QueueLocation } from './migrate-queue.ts'

/** Workflows by the names under which runs are queued. */
export type WorkerWorkflows = Readonly<Record<string, WorkflowDefinition>>

/** How a worker works; both `createWorker` and `serveWorker` take it. */
export interface WorkerSettings {
  /** What this worker can run. Runs of other definitions are left to other workers. */
  readonly workflows: WorkerWorkflows
  /** The schema of the log. @default 'public' */
  readonly schema?: string
  /** The queue whose runs it takes. @default 'default' */
  readonly queue?: string
  /** Runs at once. @default 4 */
  readonly concurrency?: number
  /** Shown beside the runs that it works on. @default the host's name and the process id */
  readonly name?: string
  /** A run that fails this often without finishing a task in between has failed. @default 5 */
  readonly maxTries?: number
  /** Runs of a worker that died go on elsewhere after this time and one `sweepMs` at the latest. @default 15_000 */
  readonly leaseMs?: number
  /**
   * How often the queue is searched for runs whose worker died and for approvals that were decided. Milliseconds. A
   * decision also wakes the search at once.
   *
   * @default 10_000
   */
  readonly sweepMs?: number
  /** Options of every run, such as `rootDir`, `network` and `onEvent`. */
  readonly run?: Omit<
    RunWorkflowOptions,
    'input' | 'runId' | 'log' | 'signal' | 'leaseMs' | 'source'
  >
  /** Drains the worker: it takes no more runs, and those it has are stopped and go back to the queue. */
  readonly signal?: AbortSignal
  /** What the worker could not do and will try again. @default a warning of the process */
  readonly onProblem?: (message: string) => void
}

/** Options of {@link createWorker}. */
export interface WorkerOptions extends WorkerSettings, QueueLocation {
  /**
   * Connections of `pg` for jobs, at least `concurrency` + 3. Not the log's: long transactions beside it would starve the
   * renewal of leases.
   */
  readonly pool: pg.Pool
  readonly schema?: string
  /** A log in the same database and schema, as `createPostgresLog` makes it. */
  readonly log: ToolCallLog
}

/** The options of a worker, complete and checked. */
export type ResolvedWorker = Required<Omit<WorkerOptions, 'signal'>> & {
  readonly runs: RunStore
  readonly signal: AbortSignal | undefined
}

/** @throws SmithersError `INVALID_INPUT` */
export function resolveWorker(options: WorkerOptions): ResolvedWorker {
  const { queue = 'default', concurrency = 4, maxTries = 5, log, workflows } = options
  const { leaseMs = 15_000, sweepMs = 10_000 } = options
  assertName('queue', queue)
  for (const definition of Object.keys(workflows)) assertName('The key of a workflow', definition)
  if (Object.keys(workflows).length === 0) throw invalid('workflows must name at least one.')
  for (const [name, value, least] of [
    ['concurrency', concurrency, 1],
    ['maxTries', maxTries, 1],
    ['leaseMs', leaseMs, 500],
    ['sweepMs', sweepMs, 100],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > longest) {
      throw invalid(`${name} must be an integer from ${least} to ${longest}, got ${value}.`)
    }
  }
  const { runs } = log
  if (runs === undefined) {
    throw invalid(`The log "${log.name}" keeps no runs. Use one of createPostgresLog.`)
  }
  return Object.freeze({
    pool: options.pool,
    schema: options.schema ?? 'public',
    log,
    runs,
    workflows,
    queue,
    concurrency,
    name: options.name ?? `${hostname()}:${process.pid}`,
    maxTries,
    leaseMs,
    sweepMs,
    run: options.run ?? {},
    signal: options.signal,
    onProblem: options.onProblem ?? ((message: string) => process.emitWarning(message)),
  })
}

function invalid(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', message)
}

/** Timers of Node take no more. */
const longest = 2 ** 31 - 1

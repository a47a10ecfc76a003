import type {
  AttemptRow,
  ClaimResult,
  Fenced,
  LoopRow,
  RunRow,
  RunStore,
  TaskRow,
} from './run-store.ts'
import type { Remaining } from './memory-rows.ts'
import { isRunFree } from './run-lease.ts'

interface StoredRun {
  run: RunRow
  finishedTasks: number
  readonly tasks: Map<string, TaskRow>
  readonly attempts: Map<string, AttemptRow>
  readonly loops: Map<string, LoopRow>
}

/** Runs in this process's memory. */
export interface MemoryRuns {
  readonly store: RunStore
  /** Every run. */
  all(): RunRow[]
  /** A run that has not finished may be resumed. */
  isOpen(runId: string): boolean
  /** A process holds the run. */
  isHeld(runId: string, nowMs: number): boolean
  /** Removes finished runs whose calls are gone, and those that are named. */
  prune(remaining: Remaining): void
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createMemoryRuns(assertOpen: () => void): MemoryRuns {
  const stored = new Map<string, StoredRun>()

  /** Applies a change if the token still holds the run. */
  function whileHeld(runId: string, leaseToken: string, change: (run: StoredRun) => void): Fenced {
    assertOpen()
    const found = stored.get(runId)
    if (found === undefined || found.run.leaseToken !== leaseToken) return 'lost'
    change(found)
    return 'ok'
  }

  function ofRun(runId: string): StoredRun | undefined {
    assertOpen()
    return stored.get(runId)
  }

  const store: RunStore = {
    claim(request): ClaimResult {
      assertOpen()
      const { runId, ownerId, leaseToken, leaseExpiresAtMs, nowMs, optionsJson, inputJson } =
        request
      const lease = { ownerId, leaseToken, leaseExpiresAtMs }
      const found = stored.get(runId)
      if (found === undefined) {
        const run: RunRow = {
          runId,
          workflow: null,
          status: 'running',
          inputJson,
          optionsJson,
          errorJson: null,
          startedAtMs: nowMs,
          finishedAtMs: null,
          ...lease,
        }
        stored.set(runId, {
          run,
          finishedTasks: 0,
          tasks: new Map(),
          attempts: new Map(),
          loops: new Map(),
        })
        return { ok: true, created: true, run }
      }
      if (!isRunFree(found.run, nowMs)) return { ok: false, run: found.run }
      found.run = {
        ...found.run,
        ...lease,
        inputJson: found.run.inputJson ?? inputJson,
        optionsJson,
        status: 'running',
        errorJson: null,
        finishedAtMs: null,
      }
      interrupt(found.tasks, nowMs)
      interrupt(found.attempts, nowMs)
      return { ok: true, created: false, run: found.run }
    },

    renew: (runId, leaseToken, leaseExpiresAtMs) =>
      whileHeld(runId, leaseToken, (held) => {
        held.run = { ...held.run, leaseExpiresAtMs }
      }),

    nameWorkflow: (runId, leaseToken, workflow) =>
      whileHeld(runId, leaseToken, (held) => {
        held.run = { ...held.run, workflow }
      }),

    release: ({ runId, leaseToken, status, errorJson, nowMs }) =>
      whileHeld(runId, leaseToken, (held) => {
        held.run = {
          ...held.run,
          status,
          errorJson,
          finishedAtMs: nowMs,
          ownerId: null,
          leaseToken: null,
          leaseExpiresAtMs: null,
        }
      }),

    startAttempt: (start) =>
      whileHeld(start.runId, start.leaseToken, (held) => {
        const { runId, nodeId, iteration, taskId, outputName, attempt, nowMs } = start
        const task = { runId, nodeId, iteration }
        const fresh = { status: 'running', finishedAtMs: null, errorJson: null } as const
        const before = held.tasks.get(keyOf(nodeId, iteration))
        held.tasks.set(keyOf(nodeId, iteration), {
          ...task,
          ...fresh,
          taskId,
          outputName,
          attempt,
          outputJson: null,
          startedAtMs: before?.startedAtMs ?? nowMs,
          finishOrder: null,
        })
        held.attempts.set(keyOf(nodeId, iteration, attempt), {
          ...task,
          ...fresh,
          attempt,
          startedAtMs: nowMs,
        })
      }),

    finishAttempt: (end) =>
      whileHeld(end.runId, end.leaseToken, (held) => {
        const { nodeId, iteration, attempt, status, outputJson, errorJson, nowMs } = end
        const task = held.tasks.get(keyOf(nodeId, iteration))
        const row = held.attempts.get(keyOf(nodeId, iteration, attempt))
        if (task === undefined || row === undefined) return
        const ended = { status, errorJson, finishedAtMs: nowMs }
        if (status === 'finished') held.finishedTasks += 1
        const finishOrder = status === 'finished' ? held.finishedTasks : null
        held.tasks.set(keyOf(nodeId, iteration), { ...task, ...ended, outputJson, finishOrder })
        held.attempts.set(keyOf(nodeId, iteration, attempt), { ...row, ...ended })
      }),

    saveLoop: (row, leaseToken) =>
      whileHeld(row.runId, leaseToken, (held) => {
        held.loops.set(row.loopId, { ...row })
      }),

    list({ runId, limit = 100 }) {
      assertOpen()
      return [...stored.values()]
        .map(({ run }) => run)
        .filter((run) => runId === undefined || run.runId === runId)
        .toReversed()
        .slice(0, limit)
    },
    tasks: (runId) => [...(ofRun(runId)?.tasks.values() ?? [])],
    attempts: (runId) => [...(ofRun(runId)?.attempts.values() ?? [])],
    loops: (runId) => [...(ofRun(runId)?.loops.values() ?? [])],
  }

  return {
    store,
    all: () => Array.from(stored.values(), ({ run }) => run),
    isOpen: (runId) => (stored.get(runId)?.run.status ?? 'finished') !== 'finished',
    isHeld(runId, nowMs) {
      const found = stored.get(runId)
      return found !== undefined && !isRunFree(found.run, nowMs)
    },
    prune({ keptFromMs, hasRun, isNamed }) {
      for (const [runId, { run }] of stored) {
        const isOld =
          run.status === 'finished' && (run.finishedAtMs ?? 0) < keptFromMs && !hasRun(runId)
        if (isOld || isNamed(runId)) stored.delete(runId)
      }
    },
  }
}

function interrupt<Row extends TaskRow | AttemptRow>(rows: Map<string, Row>, nowMs: number): void {
  for (const [key, row] of rows) {
    if (row.status === 'running') {
      rows.set(key, { ...row, status: 'interrupted', finishedAtMs: nowMs })
    }
  }
}

function keyOf(nodeId: string, iteration: number, attempt = 0): string {
  return `${attempt} ${iteration} ${nodeId}`
}

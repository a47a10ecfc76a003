import type {
  AttemptRow,
  ClaimResult,
  Fenced,
  LoopRow,
  RunRow,
  RunStore,
  TaskRow,
} from './run-store.ts'
import { isUnheld } from './lease.ts'

interface StoredRun {
  run: RunRow
  finishedTasks: number
  readonly tasks: Map<string, TaskRow>
  readonly attempts: Map<string, AttemptRow>
  readonly loops: Map<string, LoopRow>
}

/** A run store in this process: for tests, and for runs that need not survive it. */
export function createMemoryRunStore(): RunStore {
  const stored = new Map<string, StoredRun>()

  /** Applies a change if the token still holds the run. */
  function whileHeld(runId: string, leaseToken: string, change: (run: StoredRun) => void): Fenced {
    const found = stored.get(runId)
    if (found === undefined || found.run.leaseToken !== leaseToken) return 'lost'
    change(found)
    return 'ok'
  }

  return {
    name: 'memory',
    capabilities: { durable: false, multiProcess: false },

    claim(request): ClaimResult {
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
      if (!isUnheld(found.run, nowMs)) return { ok: false, run: found.run }
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
        const place = { runId, nodeId, iteration }
        const fresh = { status: 'running', finishedAtMs: null, errorJson: null } as const
        const before = held.tasks.get(keyOf(nodeId, iteration))
        held.tasks.set(keyOf(nodeId, iteration), {
          ...place,
          ...fresh,
          taskId,
          outputName,
          attempt,
          outputJson: null,
          startedAtMs: before?.startedAtMs ?? nowMs,
          place: null,
        })
        held.attempts.set(keyOf(nodeId, iteration, attempt), {
          ...place,
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
        const place = status === 'finished' ? held.finishedTasks : null
        held.tasks.set(keyOf(nodeId, iteration), { ...task, ...ended, outputJson, place })
        held.attempts.set(keyOf(nodeId, iteration, attempt), { ...row, ...ended })
      }),

    saveLoop: (row, leaseToken) =>
      whileHeld(row.runId, leaseToken, (held) => {
        held.loops.set(row.loopId, { ...row })
      }),

    runs: ({ runId, limit = 100 } = {}) =>
      [...stored.values()]
        .map(({ run }) => run)
        .filter((run) => runId === undefined || run.runId === runId)
        .toReversed()
        .slice(0, limit),
    tasks: (runId) => [...(stored.get(runId)?.tasks.values() ?? [])],
    attempts: (runId) => [...(stored.get(runId)?.attempts.values() ?? [])],
    loops: (runId) => [...(stored.get(runId)?.loops.values() ?? [])],
    close: () => {},
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

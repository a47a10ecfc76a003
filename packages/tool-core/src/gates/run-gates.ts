import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { ExecutionLimit } from './execution-limit.ts'
import type { BreakerSettings } from '../contract/gate-options.ts'
import { ResultCache } from './result-cache.ts'

/** What the calls of one run share, in this process: counts, results and breakers. */
export class RunGates {
  /** By name: a tool that is made anew for every task is still the same tool. */
  readonly #limits = new Map<string, ExecutionLimit>()
  // By definition: two tools of one name need not give the same results or fail together.
  readonly #caches = new WeakMap<object, ResultCache>()
  readonly #breakers = new WeakMap<object, CircuitBreaker>()
  /** Answers of users of the AI SDK that calls outside a run have used. */
  readonly usedApprovals: Set<string> = new Set()

  limitOf(toolName: string): ExecutionLimit {
    let limit = this.#limits.get(toolName)
    if (limit === undefined) this.#limits.set(toolName, (limit = new ExecutionLimit()))
    return limit
  }

  cacheOf(definition: object): ResultCache {
    let cache = this.#caches.get(definition)
    if (cache === undefined) this.#caches.set(definition, (cache = new ResultCache()))
    return cache
  }

  breakerOf(definition: object, toolName: string, settings: BreakerSettings): CircuitBreaker {
    let breaker = this.#breakers.get(definition)
    if (breaker === undefined) {
      this.#breakers.set(definition, (breaker = new CircuitBreaker(toolName, settings)))
    }
    return breaker
  }
}

// A run lives in its contexts: when the last one is gone, so is its state, and a resumed run counts from its log.
const ofTask = new WeakMap<TaskContext, RunGates>()
const ofRun = new WeakMap<ToolCallLog, Map<string, WeakRef<RunGates>>>()
const forgotten = new FinalizationRegistry<{
  runs: WeakRef<Map<string, WeakRef<RunGates>>>
  runId: string
}>(({ runs, runId }) => {
  const map = runs.deref()
  if (map?.get(runId)?.deref() === undefined) map?.delete(runId)
})

/** The state that all contexts of a run share: those with the same log and run id. */
export function runGatesOf(task: TaskContext): RunGates {
  const known = ofTask.get(task)
  if (known !== undefined) return known
  const gates = findOrCreate(task)
  ofTask.set(task, gates)
  return gates
}

function findOrCreate({ log, runId }: TaskContext): RunGates {
  let runs = ofRun.get(log)
  if (runs === undefined) ofRun.set(log, (runs = new Map()))
  const existing = runs.get(runId)?.deref()
  if (existing !== undefined) return existing
  const gates = new RunGates()
  runs.set(runId, new WeakRef(gates))
  forgotten.register(gates, { runs: new WeakRef(runs), runId })
  return gates
}

const ofAttempt = new WeakMap<TaskContext, RunGates>()

/** The state of one attempt of one task alone. */
export function attemptGatesOf(task: TaskContext): RunGates {
  let gates = ofAttempt.get(task)
  if (gates === undefined) ofAttempt.set(task, (gates = new RunGates()))
  return gates
}

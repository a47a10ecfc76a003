import { createToolRun, SmithersError, type ToolRun } from '@smithers/tool-core'
import type { TaskFunction } from './task-scope.ts'
import type { TaskScope } from './task-scope.ts'
import { plainJson } from '../values/plain-json.ts'
import type { TaskEvent } from '../events/workflow-event.ts'
import { allowKeys } from './allowed-keys.ts'
import { fenceCalls } from './fence-calls.ts'
import { markFatal } from '../errors/fatal-error.ts'
import { type AgentOutcome, runAgentTurns } from './agent-turns.ts'
import { outputInvalid } from './structured-output.ts'
import { checkValue } from '../values/check-value.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** What one attempt made. */
export interface AttemptResult {
  /** As the schema returned it. */
  readonly value: unknown
  /** What is recorded: the value before the schema changed it. Null for nothing. */
  readonly outputJson: string
  /** The agent's last words; empty for a computed task. */
  readonly text: string
  readonly repairs: number
}

/**
 * Makes one attempt in a context of its own. When time or the run is over, tools are aborted, the attempt fails at once,
 * and whatever its agent still answers is ignored.
 */
export async function runAttempt(
  task: ResolvedTask,
  attempt: number,
  emit: (event: TaskEvent) => void,
): Promise<AttemptResult> {
  const { runId, nodeId, iteration, timeoutMs, signal: outer } = task
  const place = { runId, nodeId, iteration, attempt }
  const ending = new AbortController()
  const run = createToolRun({
    ...task.toolOptions,
    ...place,
    abortSignal: AbortSignal.any([ending.signal, outer]),
  })
  const signal = run.abortSignal
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => ending.abort(timedOut(nodeId, timeoutMs)), timeoutMs)
  try {
    await allowKeys(run, task)
    const warning = attempt === 1 ? null : await run.retryWarning()
    emit({ ...place, type: 'attempt-start', warned: warning !== null })
    const result = await unlessAborted(
      performWith(run, task, { ...place, signal }, warning, emit),
      signal,
    )
    await run.settle()
    return result
  } catch (error) {
    // An error of the run itself outranks the one that it led to.
    const failure = run.fatal === undefined ? error : markFatal(run.fatal)
    // Tools that a failed agent left behind end too.
    ending.abort(failure)
    await fenceCalls(run.context)
    throw failure
  } finally {
    clearTimeout(timer)
  }
}

async function performWith(
  run: ToolRun,
  task: ResolvedTask,
  scope: TaskScope,
  warning: string | null,
  emit: (event: TaskEvent) => void,
): Promise<AttemptResult> {
  const { nodeId, schema, work } = task
  scope.signal.throwIfAborted()
  const content =
    typeof work.content === 'function'
      ? await run.with(async () => (work.content as TaskFunction)(scope))
      : work.content
  const outcome =
    work.agent === null
      ? await computed(nodeId, schema, content)
      : await runAgentTurns(
          {
            agent: work.agent,
            tools: work.tools,
            messages: work.messages,
            prompt: content === undefined ? null : promptText(content),
            schema,
            repairs: work.repairs,
          },
          run,
          {
            signal: scope.signal,
            warning,
            onRepair: (repair, problem) =>
              emit({ ...placeOf(scope), type: 'repair', repair, problem }),
            onText: (text) => emit({ ...placeOf(scope), type: 'text', text }),
          },
        )
  const { value, raw, text, repairs } = outcome
  const outputJson = plainJson(raw, `The output of task "${nodeId}"`, 'TASK_OUTPUT_INVALID')
  return { value, outputJson, text, repairs }
}

async function computed(
  nodeId: string,
  schema: ResolvedTask['schema'],
  raw: unknown,
): Promise<AgentOutcome> {
  if (schema === null) return { value: raw, raw, text: '', repairs: 0 }
  const verdict = await checkValue(schema, raw)
  if (!verdict.ok) throw outputInvalid(nodeId, verdict.problem, 0)
  return { ...verdict, text: '', repairs: 0 }
}

function placeOf({ runId, nodeId, iteration, attempt }: TaskScope): Omit<TaskScope, 'signal'> {
  return { runId, nodeId, iteration, attempt }
}

function promptText(prompt: unknown): string {
  return typeof prompt === 'string' ? prompt : JSON.stringify(prompt)
}

/** Settles with `work`, or rejects as soon as the attempt or its run is aborted. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop)
    // Late results and late errors of an attempt that is over concern nobody.
    work.catch(() => {})
  }
}

function timedOut(nodeId: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TASK_TIMEOUT',
    `Task "${nodeId}" did not finish within ${timeoutMs} ms (timeoutMs). Its tools were stopped. Raise timeoutMs or make the task smaller.`,
    { details: { nodeId, timeoutMs } },
  )
}

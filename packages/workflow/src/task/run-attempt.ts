import { createToolRun, SmithersError, type ToolRun, traceWork } from '@smithers/tool-core'
import type { TaskFunction } from './task-scope.ts'
import type { TaskScope } from './task-scope.ts'
import { plainJson } from '../values/plain-json.ts'
import type { TaskEvent } from '../events/workflow-event.ts'
import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import { allowKeys } from './allowed-keys.ts'
import { fenceCalls } from './fence-calls.ts'
import { markFatal } from '../errors/fatal-error.ts'
import { type AgentOutcome, runAgentTurns } from './agent-turns.ts'
import { outputInvalid } from './structured-output.ts'
import { checkValue } from '../values/check-value.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** The result of one attempt. */
export interface AttemptResult {
  /** As parsed by the schema. */
  readonly value: unknown
  /** The value before the schema parsed it, as recorded. */
  readonly outputJson: string
  /** The agent's last text; empty for a computed task. */
  readonly text: string
  readonly repairs: number
}

/**
 * Makes one attempt in a context of its own. When it times out or the run ends, its tools are aborted, the attempt fails
 * at once, and a later answer of its agent is ignored.
 */
export async function runAttempt(
  task: ResolvedTask,
  attempt: number,
  emit: (event: TaskEvent) => void,
): Promise<AttemptResult> {
  const { runId, nodeId, iteration, timeoutMs, signal: outer } = task
  const address = { runId, nodeId, iteration, attempt }
  const ending = new AbortController()
  const run = createToolRun({
    ...task.toolOptions,
    ...address,
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
    emit({ ...address, type: 'attempt-start', warned: warning !== null })
    const result = await unlessAborted(
      traceWork(task.toolOptions.telemetry, { kind: 'task', ...address }, () =>
        performWith(run, task, { ...address, signal }, warning, emit),
      ),
      signal,
    )
    await run.settle()
    return result
  } catch (error) {
    // An error of the run outranks the failure that it caused.
    const failure = run.fatal === undefined ? error : markFatal(run.fatal)
    // Also ends tools that a failed agent left running.
    ending.abort(failure)
    await fenceCalls(run.context, task.toolOptions.logTimeoutMs ?? 30_000)
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
            prompt: promptOf(nodeId, content, work.messages),
            schema,
            repairs: work.repairs,
          },
          run,
          {
            signal: scope.signal,
            warning,
            onRepair: (repair, problem) =>
              emit({ ...addressOf(scope), type: 'repair', repair, problem }),
            onText: (text) => emit({ ...addressOf(scope), type: 'text', text }),
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
  const check = await checkValue(schema, raw)
  if (!check.ok) throw outputInvalid(nodeId, check.problem, 0)
  return { ...check, text: '', repairs: 0 }
}

function addressOf({ runId, nodeId, iteration, attempt }: TaskScope): Omit<TaskScope, 'signal'> {
  return { runId, nodeId, iteration, attempt }
}

/** The prompt as text: objects as JSON. Null when the conversation in `messages` is the whole prompt. */
function promptOf(nodeId: string, content: unknown, messages: readonly unknown[]): string | null {
  if (typeof content === 'string') return content
  if (content !== undefined && content !== null) {
    return plainJson(content, `The prompt of task "${nodeId}"`, 'WORKFLOW_INVALID')
  }
  if (messages.length > 0) return null
  throw invalidWorkflow(`The prompt function of task "${nodeId}" returned nothing.`)
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
    // The late result or error of an attempt that is over has no reader.
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

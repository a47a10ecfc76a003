import { SmithersError, type ToolCallLog, type ToolRunOptions } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { type TaskEvent } from '../events/workflow-event.ts'
import { toleratingListener } from '../events/tolerating-listener.ts'
import { isSchema } from '../values/check-value.ts'
import type { AgentMessage, TaskAgent } from './agent.ts'
import { checkedContext } from './checked-context.ts'
import { allowedKeys } from './allowed-keys.ts'
import { runAttempts } from './run-attempts.ts'

/** Options that reach every tool in every attempt and every turn. */
export interface TaskToolOptions extends Omit<
  ToolRunOptions,
  'runId' | 'nodeId' | 'iteration' | 'attempt' | 'timeoutMs' | 'abortSignal' | 'lineage'
> {
  /** Time limit of the processes that tools start, in milliseconds. @default 60_000 */
  readonly toolTimeoutMs?: number | undefined
  /**
   * Idempotency keys of calls that may run, once, although an earlier call may stand for them: what overrides
   * `onRetry: 'block'`. The error `TOOL_CALL_BLOCKED` names the key.
   *
   * @default []
   */
  readonly allow?: readonly string[] | undefined
}

/** Options of {@link runTask}. */
export interface RunTaskOptions<Output> extends TaskToolOptions {
  /** The same id in a later process makes it the next attempt. @default a random id, which cannot be resumed */
  readonly runId?: string
  /** The task in the log. @default 'task' */
  readonly nodeId?: string
  /** @default 0 */
  readonly iteration?: number
  /** The number of the first attempt here, from 1. @default one more than the last in the log */
  readonly attempt?: number
  readonly agent: TaskAgent
  /** What to do. With `messages`, the conversation's next message. */
  readonly prompt?: string
  /** A conversation that the task continues. */
  readonly messages?: readonly AgentMessage[]
  /** The answer must match it, also one given through a tool that ends the task. @default any text */
  readonly output?: ZodType<Output>
  /** Tools in addition to the agent's own. With one that ends the task, such as `response`, its valid call is the output. */
  readonly tools?: Readonly<Record<string, unknown>>
  /** How often a failed attempt is repeated. @default 0 */
  readonly retries?: number
  /** Pause before the first repetition, in milliseconds; doubles with each, up to a minute. @default 1_000 */
  readonly backoffMs?: number
  /** Limit of one attempt, in milliseconds. @default none */
  readonly timeoutMs?: number
  /** How often the agent may mend an answer that does not match `output`, within one attempt. @default 2 */
  readonly repairs?: number
  /** Stops the task and its tools. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: TaskEvent) => unknown
}

/** What {@link runTask} resolves to. */
export interface TaskResult<Output> {
  readonly output: Output
  /** The agent's last words. */
  readonly text: string
  readonly runId: string
  /** The attempt that succeeded, from 1. */
  readonly attempt: number
  /** How often the answer was mended in it. */
  readonly repairs: number
}

/**
 * Lets an agent do one task: in attempts, each warned of what earlier ones may have done, with a typed answer.
 *
 * @throws SmithersError `TASK_FAILED`, `TASK_OUTPUT_INVALID` or `TASK_TIMEOUT` when no attempt succeeded;
 *   `INVALID_INPUT` for options; the reason of `signal` when it was aborted; what a tool raised for the run.
 */
export async function runTask<Output = string>(
  options: RunTaskOptions<Output>,
): Promise<TaskResult<Output>> {
  const {
    agent,
    prompt,
    messages = [],
    output,
    tools = {},
    retries = 0,
    backoffMs = 1000,
    timeoutMs,
    repairs = 2,
    allow,
    attempt,
    toolTimeoutMs,
    onEvent,
    signal,
    ...others
  } = options
  checkWork(options)
  const toolOptions = { ...others, timeoutMs: toolTimeoutMs }
  const { runId, nodeId, iteration, log } = checkedContext({ ...toolOptions, attempt })
  const firstAttempt =
    attempt ?? (options.runId === undefined ? 1 : await nextAttempt(log, runId, nodeId, iteration))
  const result = await runAttempts(
    {
      runId,
      nodeId,
      iteration,
      firstAttempt,
      schema: output ?? null,
      retries: wholeNumber('retries', retries),
      backoffMs: wholeNumber('backoffMs', backoffMs),
      timeoutMs: duration(timeoutMs),
      allow: allowedKeys(allow),
      signal: signal ?? new AbortController().signal,
      toolOptions: { ...toolOptions, log },
      work: {
        agent,
        tools,
        messages,
        content: prompt,
        repairs: wholeNumber('repairs', repairs),
      },
    },
    { start: nothing, end: nothing, fail: nothing },
    toleratingListener(onEvent),
  )
  return {
    output: result.value as Output,
    text: result.text,
    runId,
    attempt: result.attempt,
    repairs: result.repairs,
  }
}

function nothing(): void {}

/** What no attempt could mend is refused before the first. */
function checkWork({ agent, prompt, messages, output, tools }: RunTaskOptions<unknown>): void {
  if (typeof agent?.generate !== 'function') {
    throw wrong('agent', 'an agent of the AI SDK or another object with generate()')
  }
  if (prompt !== undefined && typeof prompt !== 'string') throw wrong('prompt', 'a text')
  if (messages !== undefined && !Array.isArray(messages)) throw wrong('messages', 'an array')
  if (output !== undefined && !isSchema(output)) throw wrong('output', 'a schema of Zod 4')
  if (tools !== undefined && (typeof tools !== 'object' || tools === null)) {
    throw wrong('tools', 'an object of tools by their names')
  }
  if (prompt === undefined && (messages ?? []).length === 0) {
    throw new SmithersError('INVALID_INPUT', 'runTask needs a prompt or messages.')
  }
}

async function nextAttempt(
  log: ToolCallLog,
  runId: string,
  nodeId: string,
  iteration: number,
): Promise<number> {
  const [last] = await log.list({ runId, nodeId, iteration, order: 'descending', limit: 1 })
  return (last?.attempt ?? 0) + 1
}

function wrong(option: string, needs: string): SmithersError {
  return new SmithersError('INVALID_INPUT', `${option} of runTask must be ${needs}.`, {
    details: { option },
    effect: 'none',
  })
}

function duration(timeoutMs: number | undefined): number | null {
  if (timeoutMs === undefined) return null
  // Longer delays overflow the timer, which then fires at once.
  if (timeoutMs > 0 && timeoutMs <= 2 ** 31 - 1) return timeoutMs
  throw new SmithersError(
    'INVALID_INPUT',
    `timeoutMs must be a positive number of at most 2147483647 milliseconds, got ${timeoutMs}.`,
    { details: { option: 'timeoutMs', value: String(timeoutMs) } },
  )
}

function wholeNumber(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new SmithersError('INVALID_INPUT', `${name} must be a whole number from 0, got ${value}.`, {
    details: { option: name, value: String(value) },
  })
}

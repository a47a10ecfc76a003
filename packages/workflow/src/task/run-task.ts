import { disownError, SmithersError, type ToolCallLog } from '@smithers/tool-core'
import { boundedLog } from '@smithers/tool-core/log'
import type { ZodType } from 'zod'
import { toleratingListener } from '../events/tolerating-listener.ts'
import type { TaskEvent } from '../events/workflow-event.ts'
import { isSchema } from '../values/check-value.ts'
import { assertKnownOptions } from '../values/known-names.ts'
import type { AgentMessage, TaskAgent } from './agent.ts'
import { allowedKeys } from './allowed-keys.ts'
import { checkedContext } from './checked-context.ts'
import { type FinishedTask, runAttempts } from './run-attempts.ts'
import { logOfRun } from './log-of-run.ts'
import { isToolsByName, listAdvice, toolsByName } from './tools-by-name.ts'
import { claimTask } from './task-lease.ts'
import { type TaskToolOptions, toolOptionNames } from './tool-options.ts'

/** Options of {@link runTask}. */
export interface RunTaskOptions<Output> extends TaskToolOptions {
  /** The same id in a later process begins the next attempt. @default a random id, which cannot be resumed */
  readonly runId?: string
  /** The task's name in the log. @default 'task' */
  readonly nodeId?: string
  /** @default 0 */
  readonly iteration?: number
  /**
   * Records the calls of the task.
   *
   * @default the SQLite file that `defaultLogPath(process.cwd())` of `@smithers/log-sqlite` names
   */
  readonly log?: ToolCallLog | undefined
  /** The number of the first attempt, from 1. @default one more than the last in the log */
  readonly attempt?: number
  readonly agent: TaskAgent
  /** The task, in words. With `messages`, the conversation's next message. */
  readonly prompt?: string
  /** A conversation that the task continues. */
  readonly messages?: readonly AgentMessage[]
  /** Validates the answer, including one given through a tool that ends the task. @default any text */
  readonly output?: ZodType<Output>
  /** Tools in addition to the agent's own. A valid call of one that ends the task, such as `response`, is the output. */
  readonly tools?: Readonly<Record<string, unknown>>
  /** How often the task is tried again after a failure. @default 0 */
  readonly retries?: number
  /** Pause before the first retry, in milliseconds; doubles with each, up to a minute. @default 1_000 */
  readonly backoffMs?: number
  /** Time limit of one attempt, in milliseconds. @default none */
  readonly timeoutMs?: number
  /** How often the agent may repair an answer that does not match `output`, per attempt. @default 2 */
  readonly repairs?: number
  /** Stops the task and its tools. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: TaskEvent) => unknown
}

const runTaskOptionNames: Readonly<Record<keyof RunTaskOptions<unknown>, true>> = {
  runId: true,
  nodeId: true,
  iteration: true,
  attempt: true,
  agent: true,
  prompt: true,
  messages: true,
  output: true,
  tools: true,
  retries: true,
  backoffMs: true,
  timeoutMs: true,
  repairs: true,
  signal: true,
  onEvent: true,
  ...toolOptionNames,
}

/** What {@link runTask} resolves to. */
export interface TaskResult<Output> {
  readonly output: Output
  /** The agent's last text. */
  readonly text: string
  readonly runId: string
  /** The attempt that succeeded, from 1. */
  readonly attempt: number
  /** How often the answer was repaired in that attempt. */
  readonly repairs: number
}

/**
 * Lets an agent do one task and returns its typed answer. Each further attempt is warned of what earlier ones may have
 * done.
 *
 * @throws SmithersError `WORKFLOW_RUN_BUSY` while another process works on the task; `TASK_FAILED`, `TASK_OUTPUT_INVALID` or `TASK_TIMEOUT` when no attempt succeeded;
 *   `INVALID_INPUT` for options; the reason of `signal` when it was aborted; the error with which a tool ended the run.
 */
export async function runTask<Output = string>(
  options: RunTaskOptions<Output>,
): Promise<TaskResult<Output>> {
  try {
    assertKnownOptions('runTask', options, runTaskOptionNames)
    checkWork(options)
    const opened = await logOfRun(options.log, process.cwd())
    try {
      return await runLeasedTask({ ...options, log: opened.log })
    } finally {
      await opened.release()
    }
  } catch (error) {
    throw disownError(error)
  }
}

async function runLeasedTask<Output>(options: RunTaskOptions<Output>): Promise<TaskResult<Output>> {
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
  const toolOptions = { ...others, timeoutMs: toolTimeoutMs }
  const context = checkedContext({ ...toolOptions, attempt })
  const { runId, nodeId, iteration } = context
  const log = boundedLog(context.log, options.logTimeoutMs ?? 30_000)
  const task = {
    runId,
    nodeId,
    iteration,
    schema: output ?? null,
    retries: wholeNumber('retries', retries),
    backoffMs: wholeNumber('backoffMs', backoffMs),
    timeoutMs: duration(timeoutMs),
    allow: allowedKeys(allow),
    toolOptions: { ...toolOptions, log: context.log },
    work: { agent, tools, messages, content: prompt, repairs: wholeNumber('repairs', repairs) },
  }
  // A random id cannot be another process's.
  const lease =
    options.runId === undefined
      ? null
      : await claimTask({ ...task, log }, options.leaseMs ?? 60_000)
  const signals = [signal, lease?.signal].filter((each) => each !== undefined)
  try {
    const isNew = options.runId === undefined
    const firstAttempt = attempt ?? (isNew ? 1 : await nextAttempt(log, runId, nodeId, iteration))
    const result = await runAttempts(
      { ...task, firstAttempt, signal: AbortSignal.any(signals) },
      { start: nothing, end: nothing, fail: nothing },
      toleratingListener(onEvent),
    )
    return taskResult<Output>(runId, result)
  } finally {
    await lease?.release()
  }
}

function taskResult<Output>(runId: string, result: FinishedTask): TaskResult<Output> {
  return {
    output: result.value as Output,
    text: result.text,
    runId,
    attempt: result.attempt,
    repairs: result.repairs,
  }
}

function nothing(): void {}

/** Refuses what no attempt could repair. */
function checkWork({ agent, prompt, messages, output, tools }: RunTaskOptions<unknown>): void {
  if (typeof agent?.generate !== 'function') {
    throw wrong('agent', 'an agent of the AI SDK or another object with generate()')
  }
  if (prompt !== undefined && typeof prompt !== 'string') throw wrong('prompt', 'a text')
  if (messages !== undefined && !Array.isArray(messages)) throw wrong('messages', 'an array')
  if (output !== undefined && !isSchema(output)) throw wrong('output', 'a schema of Zod 4')
  if (!isToolsByName(tools)) throw wrong('tools', toolsByName, listAdvice)
  if (!isToolsByName(agent.tools)) throw wrong('agent.tools', toolsByName, listAdvice)
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

function wrong(option: string, needs: string, advice = ''): SmithersError {
  const message = `${option} of runTask must be ${needs}. ${advice}`.trimEnd()
  return new SmithersError('INVALID_INPUT', message, {
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

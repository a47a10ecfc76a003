import { createToolRun } from '@smithers/tool-core'
import type {
  NetworkAccess,
  OnApproval,
  SmithersError,
  ToolCallLog,
  ToolRun,
} from '@smithers/tool-core'
import { isStepCount, ToolLoopAgent } from 'ai'
import type { LanguageModel } from 'ai'
import { badInput, CommandFailure, exitCodes } from '@smithers/cli/src/errors/command-failure.ts'
import { describeError } from '@smithers/cli/src/errors/describe-error.ts'
import { shownLog } from '@smithers/cli/src/log/log-target.ts'
import type { RunReporter } from '../terminal/run-reporter.ts'
import { shellWord } from '@smithers/cli/src/terminal/shell-word.ts'
import { askedTools, type Asking } from './asked-tools.ts'
import { checkedIsolation } from '@smithers/cli/src/sandbox/host-network.ts'
import type { NetworkOfFlags } from '@smithers/cli/src/sandbox/network-flags.ts'
import { addUsage, type ModelUsage } from './model-usage.ts'
import { modelRetries } from './model-retries.ts'
import { nextAttempt } from './next-attempt.ts'
import { observeCalls } from './observe-calls.ts'
import { isPaused, pausedFailure, waitingCalls } from '@smithers/cli/src/runs/paused-run.ts'
import { newRunId } from '../workflow/new-run-id.ts'

/** Everything that a run needs, resolved and checked. */
export interface AgentRunOptions {
  readonly task: string
  readonly model: LanguageModel
  /** As the user wrote it. */
  readonly modelName: string
  /** Absolute and canonical. */
  readonly rootDir: string
  readonly log: ToolCallLog
  readonly logPath: string
  /** @default a name made of the time */
  readonly runId: string | undefined
  readonly network: NetworkOfFlags
  readonly maxOutputBytes: number | undefined
  readonly timeoutMs: number | undefined
  readonly maxSteps: number
  /** Keep the patches of writes and edits in the log. */
  readonly recordContents: boolean
  /** Tools whose calls need approval. */
  readonly ask: Asking
  /** Decides about calls that need approval; without it the run pauses. */
  readonly onApproval: OnApproval | undefined
  readonly reporter: RunReporter
  readonly abortSignal: AbortSignal
}

/** The result of a run. */
export interface AgentRunResult {
  readonly runId: string
  /** The model's last text. */
  readonly answer: string
}

const instructions = `You are a careful programmer working in one folder. You have the tools read, write, edit, grep and bash.
Paths are relative to the folder; nothing outside it can be reached. bash takes an executable and its arguments, without a shell: for pipes use { "cmd": "sh", "args": ["-lc", "..."] }.
When a tool refuses something, its message says why: respect it, and say so in your answer.
Look before you change, change little, run the tests, and finish with a short summary of what you did.`

/** Tells the agent which hosts there are, so that it does not try others. */
function instructionsFor(network: NetworkAccess | undefined): string {
  if (network === undefined) return instructions
  const hosts = network.allow.length === 0 ? 'no host' : network.allow.join(', ')
  const others = network.onDecision === undefined ? 'no other' : 'others once the user approves'
  return `${instructions}\nCommands can reach these hosts: ${hosts}; ${others}. The proxy variables of their environment lead there.`
}

/** The task's name in the log. The app runs a single agent. */
const nodeId = 'agent'

/**
 * Runs the agent until it has an answer.
 *
 * @throws CommandFailure when it ends without one: the provider failed, the steps ran out, or the log failed.
 */
export async function runAgent(options: AgentRunOptions): Promise<AgentRunResult> {
  const { reporter, log } = options
  const startedAt = performance.now()
  const runId = options.runId ?? newRunId(new Date())
  const attempt = await nextAttempt(log, { runId, nodeId, iteration: 0 })
  const isolation = await checkedIsolation(options.rootDir, options.network)
  const run = createRun(options, runId, attempt)
  reporter.runStarted({
    runId,
    attempt,
    model: options.modelName,
    rootDir: options.rootDir,
    logPath: shownLog(options.logPath),
    isolation,
  })
  const progress: Progress = { steps: 0, answer: '', finishReason: 'other', usage: null }
  const calls = observeCalls(runId, reporter)
  let failure: CommandFailure | undefined
  try {
    await converse(options, run, progress)
    failure = incomplete(progress, options.maxSteps)
  } catch (error) {
    failure = isPaused(error)
      ? await paused(error, options, runId)
      : new CommandFailure(exitCodes.failed, describeError(error), { cause: error })
  } finally {
    await run.close()
    await calls.stop()
  }
  reporter.runEnded({
    runId,
    ok: failure === undefined,
    steps: progress.steps,
    calls: calls.count(),
    usage: progress.usage,
    durationMs: performance.now() - startedAt,
    error: failure?.message ?? null,
  })
  if (failure !== undefined) throw failure
  return { runId, answer: progress.answer }
}

async function paused(
  error: SmithersError,
  { log, logPath, reporter }: AgentRunOptions,
  runId: string,
): Promise<CommandFailure> {
  const waiting = await waitingCalls(log, runId, logPath)
  reporter.waits(waiting)
  return pausedFailure(error, waiting.length, `the same command and --run ${shellWord(runId)}`)
}

interface Progress {
  steps: number
  answer: string
  finishReason: string
  usage: ModelUsage | null
}

function createRun(options: AgentRunOptions, runId: string, attempt: number): ToolRun {
  const { rootDir, network, maxOutputBytes, timeoutMs, log } = options
  try {
    return createToolRun({
      runId,
      nodeId,
      attempt,
      rootDir,
      ...network,
      maxOutputBytes,
      timeoutMs,
      recordContents: options.recordContents,
      log,
      onApproval: options.onApproval,
      abortSignal: options.abortSignal,
    })
  } catch (error) {
    throw badInput(describeError(error), error)
  }
}

async function converse(options: AgentRunOptions, run: ToolRun, progress: Progress): Promise<void> {
  const agent = new ToolLoopAgent({
    model: options.model,
    instructions: instructionsFor(options.network.network),
    tools: askedTools(options.ask),
    stopWhen: isStepCount(options.maxSteps),
    maxRetries: modelRetries,
    // Reported below as parts of the stream. The default prints the whole error.
    onError() {},
  })
  // With a warning of what earlier attempts of this run may have done.
  const result = await run.agent(agent).stream({ prompt: options.task })
  let text = ''
  for await (const part of result.fullStream) {
    if (part.type === 'text-start') text = ''
    else if (part.type === 'text-delta') text += part.text
    else if (part.type === 'text-end' && text.trim() !== '') {
      progress.answer = text
      options.reporter.said(text)
    } else if (part.type === 'finish-step') {
      progress.steps += 1
      progress.finishReason = part.finishReason
      progress.usage = addUsage(progress.usage, part)
    } else if (part.type === 'error') throw part.error
    else if (part.type === 'abort') throw run.abortSignal.reason
  }
}

/** Why a conversation that ended without an error did not succeed. */
function incomplete(
  { finishReason, steps }: Progress,
  maxSteps: number,
): CommandFailure | undefined {
  if (finishReason === 'stop') return undefined
  const reason =
    finishReason === 'tool-calls' && steps >= maxSteps
      ? `The agent had no answer after ${maxSteps} steps. Raise --max-steps, or make the task smaller.`
      : `The model stopped before it had an answer (${finishReason}).`
  return new CommandFailure(exitCodes.failed, reason)
}

import { readOptions } from '@smithers/sandbox/options'
import {
  type DefinedTool,
  defineTool,
  onRunEnd,
  recordNetworkUse,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import { BackgroundJob } from '../command/background-job.ts'
import { bashAdvice, describeBash } from './bash.ts'
import {
  type BackgroundBashInput,
  backgroundBashSchema,
  type BashInput,
  nameOf,
} from '../command/bash-input.ts'
import { failure, withNotes } from '../command/bash-result.ts'
import { type BundleOptions, bundleOptionReaders, modelBudget } from '../bundle/bundle-options.ts'
import { modelText } from '../model/model-text.ts'
import { decisionWithoutAsking } from '../command/command-network.ts'
import { opensNetwork } from '../bundle/network-of-call.ts'
import { answerCommand, runCommand } from '../command/run-command.ts'

/** Input of `bash_output`. */
export interface BashOutputInput {
  readonly id: string
  /** How long to wait for something new, in milliseconds, at most 60 000. @default 0 */
  readonly waitMs?: number | undefined
}

/** `bash` that can leave commands running, and the tools that read and end them. */
export type CommandTools = {
  readonly bash: DefinedTool<BackgroundBashInput, string>
  readonly bash_output: DefinedTool<BashOutputInput, string>
  readonly bash_kill: DefinedTool<{ readonly id: string }, string>
}

/** Commands that one attempt may have running. */
const maxRunning = 16

/** What a background command may take, in milliseconds: the longest time of a command. */
const longestMs = 3_600_000

/** A command that cannot start, or that is short, has ended by then, and is answered like any other. */
const firstLookMs = 500

/**
 * Creates `bash`, whose commands may stay in the background (`background: true` returns an id), with `bash_output` and
 * `bash_kill`. What runs in the background ends with the attempt of the run (`run.settle()`, an abort), after an hour, and
 * with this process.
 *
 * @throws SandboxError `INVALID_INPUT` for an unknown option or a value of the wrong type
 *
 * @example
 * const agentTools = { ...tools, ...createCommandTools() }
 */
export function createCommandTools(options: BundleOptions = {}): CommandTools {
  const bundle: BundleOptions = Object.freeze(readOptions(options, bundleOptionReaders))
  const jobs = new Jobs()
  return {
    bash: createBackgroundBash(bundle, jobs),
    bash_output: createBashOutput(bundle, jobs),
    bash_kill: createBashKill(bundle, jobs),
  }
}

function createBackgroundBash(options: BundleOptions, jobs: Jobs): CommandTools['bash'] {
  return defineTool({
    name: 'bash',
    description: describeBash(
      options,
      'background: true leaves it running and returns an id, for servers and watchers.',
    ),
    schema: backgroundBashSchema,
    ...modelBudget(options, bashAdvice),
    sideEffect: true,
    idempotent: false,
    effectScope: (task) => (opensNetwork(task, options) ? 'external' : 'workspace'),
    async execute({ background, ...input }, ctx) {
      return background === true
        ? startJob(input, ctx, options, jobs)
        : answerCommand(input, ctx, options, { hasBackground: true })
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

async function startJob(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
  jobs: Jobs,
): Promise<string> {
  jobs.refuseTooMany(ctx)
  const timeoutMs = Math.min(input.timeoutMs ?? longestMs, longestMs)
  const job = new BackgroundJob(nameOf(input), (signal, onOutput) =>
    runCommand(input, ctx, options, {
      signal,
      timeoutMs,
      onOutput,
      onDecision: decisionWithoutAsking(ctx, options),
    }),
  )
  const stop = (): void => job.kill()
  const forget = onRunEnd(stop)
  // Until this call has been answered, its own abort ends the command, too.
  ctx.abortSignal.addEventListener('abort', stop, { once: true })
  void job.ended.then(forget)
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, firstLookMs)
  await Promise.race([job.ended, looked])
  clearTimeout(timer)
  const result = job.result
  if (result !== undefined) {
    if (result.network !== undefined) recordNetworkUse(ctx, result.network)
    if (result.status === 'exited' && result.exitCode === 0) return withNotes(result, [])
    throw failure(input, result, {
      notes: [],
      longestTimeoutMs: longestMs,
      hasBackground: false,
    })
  }
  jobs.add(ctx, job)
  return `${job.read()}\nRead what it prints with bash_output {"id":"${job.id}"}, end it with bash_kill. It ends with this run.`
}

function createBashOutput(options: BundleOptions, jobs: Jobs): CommandTools['bash_output'] {
  return defineTool({
    name: 'bash_output',
    description:
      'Read what a background command printed since the last reading, and whether it still runs. waitMs waits for something new.',
    schema: z.object({
      id: z.string().describe('The id that bash returned.'),
      waitMs: z.int().min(0).max(60_000).optional().describe('Wait so long for something new.'),
    }),
    ...modelBudget(options, bashAdvice),
    async execute({ id, waitMs = 0 }, ctx) {
      const job = jobs.get(ctx, id)
      await job.news(waitMs, ctx.abortSignal)
      return readJob(job, ctx)
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

function createBashKill(options: BundleOptions, jobs: Jobs): CommandTools['bash_kill'] {
  return defineTool({
    name: 'bash_kill',
    description:
      'End a background command with everything it has started, and read the rest of its output.',
    schema: z.object({ id: z.string().describe('The id that bash returned.') }),
    ...modelBudget(options, bashAdvice),
    sideEffect: true,
    idempotent: true,
    acceptsContext: true,
    effectScope: 'workspace',
    async execute({ id }, ctx) {
      const job = jobs.get(ctx, id)
      job.kill()
      await job.ended
      return readJob(job, ctx)
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

/** The row of the call that sees the end has the connections: that of the start was finished before them. */
function readJob(job: BackgroundJob, ctx: ToolContext): string {
  const use = job.takeNetworkUse()
  if (use !== undefined) recordNetworkUse(ctx, use)
  return job.read()
}

/** The background commands of all attempts that use these tools. */
class Jobs {
  readonly #ofAttempts = new Map<string, Map<string, BackgroundJob>>()

  /** @throws SmithersError `TOOL_LIMIT_REACHED` when the attempt has too many */
  refuseTooMany(ctx: ToolContext): void {
    const running = this.#of(ctx).filter(({ isRunning }) => isRunning)
    if (running.length < maxRunning) return
    throw new SmithersError(
      'TOOL_LIMIT_REACHED',
      `${running.length} commands run in the background, which is the limit. End one with bash_kill: ${running.map(({ id }) => id).join(', ')}.`,
      { details: { limit: maxRunning }, effect: 'none' },
    )
  }

  add(ctx: ToolContext, job: BackgroundJob): void {
    const key = attemptOf(ctx)
    const jobs = this.#ofAttempts.get(key) ?? new Map<string, BackgroundJob>()
    this.#ofAttempts.set(key, jobs.set(job.id, job))
    const forget = onRunEnd(() => {
      void job.ended.then(() => this.#ofAttempts.delete(key))
    })
    // Outside a run nothing says when the agent is done with it.
    if (ctx.ephemeral) void job.ended.then(forget)
  }

  /** @throws SmithersError `INVALID_INPUT` for an id that the attempt does not know */
  get(ctx: ToolContext, id: string): BackgroundJob {
    const job = this.#ofAttempts.get(attemptOf(ctx))?.get(id)
    if (job !== undefined) return job
    const known = this.#of(ctx).map((each) => each.id)
    const advice =
      known.length === 0
        ? 'None was started here. Start one with bash and background: true.'
        : `Those of this run are ${known.join(', ')}.`
    throw new SmithersError(
      'INVALID_INPUT',
      `No background command has the id ${JSON.stringify(id)}: they end with their run and its process. ${advice}`,
      { details: { id, known }, effect: 'none' },
    )
  }

  #of(ctx: ToolContext): readonly BackgroundJob[] {
    return [...(this.#ofAttempts.get(attemptOf(ctx))?.values() ?? [])]
  }
}

/** Calls outside runs share one, for each has a random run of its own. */
function attemptOf({ ephemeral, runId, nodeId, iteration, attempt }: ToolContext): string {
  return ephemeral ? '' : JSON.stringify([runId, nodeId, iteration, attempt])
}

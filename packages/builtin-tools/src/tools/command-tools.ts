import { readOptions } from '@smithers/sandbox/options'
import {
  type DefinedTool,
  defineTool,
  onRunEnd,
  recordNetworkUse,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import { BackgroundJob } from '../command/background-job.ts'
import { BackgroundJobs } from '../command/background-jobs.ts'
import { bashAdvice, bashParts, commandText } from './bash.ts'
import {
  type BackgroundBashInput,
  backgroundBashSchema,
  type BashInput,
  commandOf,
  nameOf,
} from '../command/bash-input.ts'
import { failure, withNotes } from '../command/bash-result.ts'
import { type BundleOptions, bundleOptionReaders, modelBudget } from '../bundle/bundle-options.ts'
import { modelText } from '../model/model-text.ts'
import { decisionWithoutAsking } from '../command/command-network.ts'
import { closable, type ClosableTools } from '../bundle/bundle-lifetime.ts'
import { closeRootsOf } from '../bundle/sandbox-for-context.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'
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

const killSchema = z.object({ id: z.string().describe('The id that bash returned.') })

const outputSchema = killSchema.extend({
  waitMs: z.int().min(0).max(60_000).optional().describe('Wait so long for something new.'),
})

/** What a background command may take, in milliseconds: the longest time of a command. */
const longestMs = 3_600_000

/** A command that cannot start, or that is short, has ended by then, and is answered like any other. */
const firstLookMs = 500

/**
 * Creates `bash`, whose commands may stay in the background (`background: true` returns an id), with `bash_output` and
 * `bash_kill`. What runs in the background ends with the attempt of the run (`run.settle()`, an abort), after an hour,
 * with these tools (`closeTools`), and with this process.
 *
 * @throws SandboxError `INVALID_INPUT` for an unknown option or a value of the wrong type
 *
 * @example
 * const agentTools = { ...tools, ...createCommandTools() }
 */
export function createCommandTools(options: BundleOptions = {}): CommandTools & ClosableTools {
  const bundle: BundleOptions = Object.freeze(readOptions(options, bundleOptionReaders))
  const jobs = new BackgroundJobs()
  const tools: CommandTools = {
    bash: createBackgroundBash(bundle, jobs),
    bash_output: createBashOutput(bundle, jobs),
    bash_kill: createBashKill(bundle, jobs),
  }
  return closable(tools, bundle, closeRootsOf)
}

/** Under isolation, another command has another network, and so no way to a port of this one. */
const inBackground =
  'background: true leaves it running and returns an id, for watchers and long builds. Other commands may not reach its ports: start a server and ask it in one script.'

function createBackgroundBash(options: BundleOptions, jobs: BackgroundJobs): CommandTools['bash'] {
  return defineTool({
    ...bashParts(backgroundBashSchema, options, inBackground),
    async execute({ background, ...input }, ctx) {
      return background === true
        ? startJob(input, ctx, options, jobs)
        : answerCommand(input, ctx, options, { hasBackground: true })
    },
    toModelOutput: commandText,
  })
}

async function startJob(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
  jobs: BackgroundJobs,
): Promise<string> {
  const timeoutMs = Math.min(input.timeoutMs ?? longestMs, longestMs)
  const { cmd, args } = commandOf(input)
  const onDecision = decisionWithoutAsking(ctx, options, [cmd, ...args])
  const job = jobs.start(
    ctx,
    () =>
      new BackgroundJob(nameOf(input), (signal, onOutput) =>
        runCommand(input, ctx, options, { signal, timeoutMs, onOutput, onDecision }),
      ),
  )
  const stop = (): void => job.kill()
  const forget = onRunEnd(stop)
  void job.ended.then(forget)
  // Until this call has been answered, its own abort ends the command, too.
  ctx.abortSignal.addEventListener('abort', stop, { once: true })
  if (ctx.abortSignal.aborted) stop()
  await firstLook(job)
  ctx.abortSignal.removeEventListener('abort', stop)
  if (job.isRunning) {
    return `${job.read()}\nRead what it prints with bash_output {"id":"${job.id}"}, end it with bash_kill. It ends with this run.`
  }
  jobs.forget(ctx, job)
  return answerOf(job, input, ctx)
}

async function firstLook(job: BackgroundJob): Promise<void> {
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, firstLookMs)
  await Promise.race([job.ended, looked])
  clearTimeout(timer)
}

/** The answer to a command that has ended before it was left running. */
function answerOf(job: BackgroundJob, input: BashInput, ctx: ToolContext): string {
  const result = job.result
  if (result === undefined) return job.read()
  if (result.network !== undefined) recordNetworkUse(ctx, result.network)
  if (result.status === 'exited' && result.exitCode === 0) return withNotes(result, [])
  throw failure(input, result, { notes: [], longestTimeoutMs: longestMs, hasBackground: false })
}

function createBashOutput(
  options: BundleOptions,
  jobs: BackgroundJobs,
): CommandTools['bash_output'] {
  return defineTool({
    name: 'bash_output',
    description:
      'Read what a background command printed since the last reading, and whether it still runs. waitMs waits for something new.',
    schema: argumentsOf(outputSchema, options),
    ...modelBudget(options, bashAdvice),
    async execute({ id, waitMs = 0 }, ctx) {
      const job = jobs.get(ctx, id)
      await job.news(waitMs, ctx.abortSignal)
      return readJob(jobs, job, ctx)
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

function createBashKill(options: BundleOptions, jobs: BackgroundJobs): CommandTools['bash_kill'] {
  return defineTool({
    name: 'bash_kill',
    description:
      'End a background command with everything it has started, and read the rest of its output.',
    schema: argumentsOf(killSchema, options),
    ...modelBudget(options, bashAdvice),
    sideEffect: true,
    idempotent: true,
    acceptsContext: true,
    effectScope: 'workspace',
    async execute({ id }, ctx) {
      const job = jobs.get(ctx, id)
      job.kill()
      await job.ended
      return readJob(jobs, job, ctx)
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

/** The row of the call that sees the end has the connections: that of the start was finished before them. */
function readJob(jobs: BackgroundJobs, job: BackgroundJob, ctx: ToolContext): string {
  if (!job.isRunning) jobs.forgetRead(ctx, job)
  const use = job.takeNetworkUse()
  if (use !== undefined) recordNetworkUse(ctx, use)
  return job.read()
}

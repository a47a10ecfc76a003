import { isDeepStrictEqual } from 'node:util'
import {
  createToolRun,
  isSmithersError,
  type ToolCallLog,
  type ToolCallOptions,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { lastOf } from './last-of.ts'
import { untilDecided } from './until-decided.ts'

interface GatedRunOptions extends ToolRunOptions {
  readonly log: ToolCallLog
  readonly abortSignal: AbortSignal
}

/**
 * The calls of tools that need approval. Each try is a run of its own, because a run ends when a call of it waits for
 * approval. The log knows the call by its id, so the tries are one call.
 */
export class GatedCalls {
  readonly #workflowId: string
  readonly #tools: Readonly<Record<string, unknown>>
  readonly #options: GatedRunOptions
  /** First tries that have not come back, in their order. */
  readonly #firstTries: FirstTry[] = []
  readonly #fatal = new WeakSet<Error>()

  constructor(
    workflowId: string,
    tools: Readonly<Record<string, unknown>>,
    options: GatedRunOptions,
  ) {
    this.#workflowId = workflowId
    this.#tools = tools
    this.#options = options
  }

  /** The error did not concern its call alone: the log failed where that is not safe, or another worker took over. */
  endedRun(error: unknown): boolean {
    return error instanceof Error && this.#fatal.has(error)
  }

  /** Makes the call, once it is approved where that is needed. */
  async execute(name: string, args: unknown, options: ToolCallOptions): Promise<unknown> {
    const { log, abortSignal } = this.#options
    let waiting = await this.#firstTry(name, args, options)
    while (waiting.kind === 'waits') {
      await untilDecided(waiting.approvalId, this.#workflowId, { log, abortSignal })
      waiting = await this.#try(name, args, options)
    }
    return waiting.output
  }

  /** Equal calls ask one after another: each request is for the call that is asked for next. */
  async #firstTry(name: string, args: unknown, options: ToolCallOptions): Promise<Tried> {
    const before = this.#firstTries.findLast(
      (other) => other.name === name && isDeepStrictEqual(other.args, args),
    )
    const done = Promise.withResolvers<void>()
    const own: FirstTry = { name, args, done: done.promise }
    this.#firstTries.push(own)
    try {
      await before?.done
      return await this.#try(name, args, options)
    } finally {
      this.#firstTries.splice(this.#firstTries.indexOf(own), 1)
      done.resolve()
    }
  }

  async #try(name: string, args: unknown, options: ToolCallOptions): Promise<Tried> {
    const run = createToolRun(this.#options)
    const { execute } = run.tools(this.#tools)[name] as GatedTool
    try {
      return { kind: 'ended', output: await lastOf(execute(args, options)) }
    } catch (error) {
      const approvalId = awaitedApproval(error)
      if (approvalId !== undefined) return { kind: 'waits', approvalId }
      if (run.fatal !== undefined && error instanceof Error) this.#fatal.add(error)
      throw error
    }
  }
}

interface FirstTry {
  readonly name: string
  readonly args: unknown
  /** Resolves however it ends. */
  readonly done: Promise<void>
}

interface GatedTool {
  readonly execute: (args: unknown, options: ToolCallOptions) => unknown
}

type Tried =
  | { readonly kind: 'ended'; readonly output: unknown }
  | { readonly kind: 'waits'; readonly approvalId: string }

function awaitedApproval(error: unknown): string | undefined {
  if (!isSmithersError(error) || error.code !== 'TOOL_APPROVAL_REQUIRED') return undefined
  const { approvalId } = error.details
  return typeof approvalId === 'string' ? approvalId : undefined
}

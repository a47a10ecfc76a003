import { DBOS } from '@dbos-inc/dbos-sdk'
import {
  createToolRun,
  SmithersError,
  type ToolCallLog,
  type ToolCallOptions,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { CallSteps, type Execute } from './call-steps.ts'
import { GatedCalls } from './gated-calls.ts'

/** Options of {@link durableTools}: those of `createToolRun`, without what the workflow decides. */
export interface DurableToolsOptions extends Omit<
  ToolRunOptions,
  'runId' | 'attempt' | 'lineage' | 'log' | 'maxWarningBytes' | 'onApproval' | 'approvalTimeoutMs'
> {
  /** Where calls are recorded. It must outlive the process, so give `createPostgresLog` or another durable log. */
  readonly log: ToolCallLog
  /** Give each agent of a workflow its own. @default 'task' */
  readonly nodeId?: string | undefined
}

/** The tools of one agent in a workflow of DBOS. */
export interface DurableTools<Tools> {
  /** Hand them to the agent: each call is one step of the workflow. */
  readonly tools: Tools
  /** Hand it to the agent: it is aborted when the workflow must stop. */
  readonly abortSignal: AbortSignal
  /**
   * Returns `value`, the agent's result.
   *
   * @throws what must fail the workflow: the AI SDK has shown it to the model at most, and gone on. An error of DBOS, such
   *   as a cancellation, is thrown as it is.
   */
  settle<Value>(value: Value): Promise<Value>
}

/**
 * Makes each call of the tools one step of the surrounding DBOS workflow, named `tool NAME TOOLCALLID`. A call whose step
 * DBOS has recorded is answered from there. A call that was killed runs again inside the log's protection: its earlier
 * outcome is returned, verified or repeated under the same idempotency key, as the tool's `onRetry` and `verify` say.
 *
 * A tool with `needsApproval` waits in its step until `resolveToolApproval` decides, in any process, for as long as that
 * takes and across restarts.
 *
 * @throws SmithersError `INVALID_INPUT` outside a workflow function, and for an option out of range.
 * @example
 * const agent = DBOS.registerWorkflow(async (task: string) => {
 *   const run = durableTools({ read, charge }, { log, nodeId: 'agent' })
 *   const { tools, abortSignal } = run
 *   const { text } = await generateText({ model, tools, prompt: task, maxRetries: 0, abortSignal })
 *   return run.settle(text)
 * }, { name: 'agent' })
 */
export function durableTools<const Tools extends Readonly<Record<string, unknown>>>(
  tools: Tools,
  options: DurableToolsOptions,
): DurableTools<Tools> {
  const workflowId = currentWorkflow()
  const ending = new AbortController()
  const { abortSignal: given } = options
  const stops = given === undefined ? ending.signal : AbortSignal.any([given, ending.signal])
  const runOptions = {
    ...options,
    runId: workflowId,
    lineage: 'journaled',
    abortSignal: stops,
  } as const
  const run = createToolRun(runOptions)
  let failure: { readonly error: unknown } | undefined
  const steps = new CallSteps(tools, {
    gated: new GatedCalls(workflowId, tools, runOptions),
    hasEnded: () => run.fatal !== undefined,
    end: (error) => {
      failure ??= { error }
      ending.abort(error)
    },
  })
  return {
    tools: wrapped(run.tools(tools), steps),
    abortSignal: AbortSignal.any([run.abortSignal, ending.signal]),
    settle: async (value) => {
      const settled = run.settle(value)
      if (failure === undefined) return settled
      await settled.catch(() => undefined)
      throw failure.error
    },
  }
}

/** Tools without `execute` are carried out elsewhere, and stay as they are. */
function wrapped<Tools extends Readonly<Record<string, unknown>>>(
  tools: Tools,
  steps: CallSteps,
): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => {
    const { execute } = (tool ?? {}) as { readonly execute?: unknown }
    if (typeof tool !== 'object' || typeof execute !== 'function') return [name, tool] as const
    const bound: CallOfTool = (args, options) =>
      steps.call(name, execute.bind(tool) as Execute, args, options)
    return [name, { ...tool, execute: bound }] as const
  })
  return Object.fromEntries(entries) as Tools
}

type CallOfTool = (args: unknown, options: ToolCallOptions) => Promise<unknown>

function currentWorkflow(): string {
  const { workflowID } = DBOS
  if (workflowID !== undefined && DBOS.isInWorkflow()) return workflowID
  throw new SmithersError(
    'INVALID_INPUT',
    'durableTools was called outside a workflow function of DBOS, so its calls could not be steps. Call it in a function registered with DBOS.registerWorkflow, outside its steps.',
  )
}

import type { WorkflowContext } from '@restatedev/restate-sdk'
import {
  createToolRun,
  type ToolCallLog,
  type ToolCallOptions,
  type ToolRun,
} from '@smithers/tool-core'
import type { LanguageModelMiddleware, ToolSet } from 'ai'

/**
 * The tools of an agent in a workflow of Restate. Each call is one entry of its journal, `NAME TOOLCALLID`, without retries:
 * what the process had begun when it died is the log's to decide.
 */
export function restateTools<Tools extends ToolSet>(
  ctx: WorkflowContext,
  tools: Tools,
  { log, nodeId }: { readonly log: ToolCallLog; readonly nodeId: string },
): { readonly run: ToolRun; readonly tools: Tools } {
  const run = createToolRun({ runId: ctx.key, nodeId, log, lineage: 'journaled' })
  // One after another: Restate keeps no order among entries that begin at once.
  let last: Promise<unknown> = Promise.resolve()

  function inJournal(name: string, execute: Execute): Execute {
    return (args, options) => {
      const entry = `${name} ${options.toolCallId}`
      const call = last.then(() =>
        ctx.run(entry, async () => execute(args, options), { maxRetryAttempts: 1 }),
      )
      last = call.catch(() => undefined)
      return call
    }
  }

  const entries = Object.entries(run.tools(tools)).map(([name, tool]) => {
    const { execute } = tool as { readonly execute?: Execute }
    return [name, execute === undefined ? tool : { ...tool, execute: inJournal(name, execute) }]
  })
  return { run, tools: Object.fromEntries(entries) as Tools }
}

type Execute = (args: unknown, options: ToolCallOptions) => unknown

/** Keeps the answers of the model in the journal, so that a workflow that begins again says the same. */
export function journaledAnswers(ctx: WorkflowContext): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    wrapGenerate: ({ doGenerate }) =>
      ctx.run('model', async () => {
        const { content, finishReason, usage, warnings } = await doGenerate()
        return { content, finishReason, usage, warnings }
      }),
  }
}

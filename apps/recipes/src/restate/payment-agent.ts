import { workflow, type WorkflowContext, type WorkflowDefinition } from '@restatedev/restate-sdk'
import type { ToolCallLog } from '@smithers/tool-core'
import { generateText, stepCountIs, type ToolSet, wrapLanguageModel } from 'ai'
import { journaledAnswers, restateTools } from './restate-tools.ts'

/** What the agent needs; the model is one of the AI SDK. */
export interface PaymentAgentParts {
  readonly model: Parameters<typeof wrapLanguageModel>[0]['model']
  readonly tools: ToolSet
  readonly log: ToolCallLog
}

/** The agent as a workflow of Restate: start it once for each piece of work, with a key of its own. */
export function paymentAgent({
  model,
  tools,
  log,
}: PaymentAgentParts): WorkflowDefinition<
  'payment-agent',
  { run: (ctx: WorkflowContext, prompt: string) => Promise<string> }
> {
  return workflow({
    name: 'payment-agent',
    handlers: {
      run: async (ctx: WorkflowContext, prompt: string): Promise<string> => {
        const { run, tools: bound } = restateTools(ctx, tools, { log, nodeId: 'agent' })
        const { text } = await generateText({
          model: wrapLanguageModel({ model, middleware: journaledAnswers(ctx) }),
          tools: bound,
          prompt,
          abortSignal: run.abortSignal,
          maxRetries: 0,
          stopWhen: stepCountIs(20),
        })
        return run.settle(text)
      },
    },
  })
}

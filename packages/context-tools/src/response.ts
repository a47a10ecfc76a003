import { type DefinedTool, defineTool } from '@smithers/tool-core'
import { type output as SchemaOutput, z, type ZodType } from 'zod'

/** What is read of a step of the AI SDK, any major. */
export interface StepWithResults {
  readonly toolResults: readonly { readonly toolName: string; readonly output?: unknown }[]
}

/** The final answer of an agent, as a tool. */
export interface ResponseTool<Output> {
  /** Give it to the agent as `response`. */
  readonly tool: DefinedTool<unknown, Output, 'response'>
  /** `stopWhen` of the agent: true once a valid answer was given. */
  readonly stopWhen: (state: { readonly steps: readonly StepWithResults[] }) => boolean
  /** The valid answer that was given, if any. */
  readonly answerOf: (result: { readonly steps: readonly StepWithResults[] }) => Output | undefined
}

/**
 * Makes the tool with which an agent finishes. The first valid call counts and ends the task: calls that
 * the agent makes after it, in the same turn too, do not run. An invalid call tells the agent what is wrong.
 *
 * A schema of anything but an object becomes the property `value`, since providers only take objects.
 */
export function createResponse<Schema extends ZodType>(options: {
  readonly outputSchema: Schema
  readonly description?: string
}): ResponseTool<SchemaOutput<Schema>> {
  const {
    outputSchema,
    description = 'Give your final answer. Call it exactly once, when everything else is done.',
  } = options
  const isObject = outputSchema.type === 'object'
  const tool = defineTool({
    name: 'response',
    description,
    schema: isObject ? outputSchema : z.object({ value: outputSchema }),
    finalAnswer: true,
    archivesOutput: false,
    execute: (answer: unknown) =>
      (isObject ? answer : (answer as { value: unknown }).value) as SchemaOutput<Schema>,
  })
  return {
    tool: tool as DefinedTool<unknown, SchemaOutput<Schema>, 'response'>,
    stopWhen: ({ steps }) => answers(steps).length > 0,
    answerOf: ({ steps }) => answers(steps)[0] as SchemaOutput<Schema> | undefined,
  }
}

function answers(steps: readonly StepWithResults[]): unknown[] {
  return steps.flatMap(({ toolResults }) =>
    toolResults.filter(({ toolName }) => toolName === 'response').map(({ output }) => output),
  )
}

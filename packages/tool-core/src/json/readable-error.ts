import { SmithersError } from '../errors/smithers-error.ts'

const errorFields = ['name', 'message', 'code', 'details', 'logMessage', 'effect', 'fatal', 'cause']

/**
 * Returns what a tool threw, or an error in its place when it cannot be read: a getter of it throws, or JSON cannot say
 * it. The log, the events and the AI SDK all read it, and a failure there would hide the failure of the call.
 */
export function readableError(toolName: string, thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown
  try {
    for (const field of errorFields) void (thrown as Readonly<Record<string, unknown>>)[field]
    // The AI SDK shows the message of an error, and the JSON of anything else.
    if (!(thrown instanceof Error)) JSON.stringify(thrown)
    return thrown
  } catch {
    return new SmithersError(
      'TOOL_FAILED',
      `Tool "${toolName}" threw a value that cannot be read: one of its getters throws, or it holds a BigInt or a cycle. Throw an Error with a message.`,
      { details: { toolName } },
    )
  }
}

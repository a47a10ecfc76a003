import type { MaybePromise } from '../log/tool-call-log.ts'
import { SmithersError } from '../smithers-error.ts'
import { chain } from './maybe-promise.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * Parses the arguments of a call with the tool's schema, also when `execute` is called directly.
 *
 * @throws SmithersError `INVALID_INPUT`, naming each place and what is wrong there, never the value.
 */
export function validateInput(definition: ToolDefinition, args: unknown): MaybePromise<unknown> {
  return chain(definition.schema['~standard'].validate(args), (result) => {
    if (result.issues === undefined) return result.value
    const issues = result.issues.map(({ path = [], message }) => ({
      path: path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'),
      message,
    }))
    const list = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    throw new SmithersError(
      'INVALID_INPUT',
      `The input of tool "${definition.metadata.name}" is invalid. ${list.join('; ')}. Correct the input and call the tool again.`,
      { details: { toolName: definition.metadata.name, issues }, effect: 'none' },
    )
  })
}

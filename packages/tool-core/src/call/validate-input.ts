import type { MaybePromise } from '../log/tool-call-log.ts'
import { SmithersError } from '../smithers-error.ts'
import { chain } from './maybe-promise.ts'
import { isParsed } from './parsed-input.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * Parses the arguments of a call with the tool's schema, also when `execute` is called directly; once, when the AI SDK
 * has already parsed them.
 *
 * @throws SmithersError `INVALID_INPUT`, naming each place and what is wrong there, never the value.
 */
export function validateInput(definition: ToolDefinition, args: unknown): MaybePromise<unknown> {
  const { schema } = definition
  if (isParsed(schema, args)) return args
  return chain(schema['~standard'].validate(args), (result) => {
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

/** What the log may see of arguments that do not fit the schema: a mapper of the tool could not read them. */
export function describeInvalidInput(definition: ToolDefinition, given: unknown): unknown {
  if (definition.logInput === undefined) return given
  if (typeof given !== 'object' || given === null) return { $described: shapeOf(given) }
  const shapes = Object.entries(given).map(([key, value]) => [key, shapeOf(value)])
  return { $described: 'invalid input', properties: Object.fromEntries(shapes) as unknown }
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `string of ${Buffer.byteLength(value)} bytes`
  if (Array.isArray(value)) return `array of ${value.length}`
  return value === null ? 'null' : typeof value
}

import { SmithersError } from '../errors/smithers-error.ts'
import { lateBeginError } from '../journal/call-errors.ts'
import type { CallScope } from './call-scope.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { Steps } from '../async/maybe-promise.ts'
import { runSchema, type SchemaResult } from '../contract/run-schema.ts'
import { isParsed } from './parsed-input.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * Parses the arguments of a call with the tool's schema, also when `execute` is called directly; once, when the AI SDK
 * has already parsed them.
 *
 * @throws SmithersError `INVALID_INPUT`, naming each place and what is wrong there, never the value.
 */
export function* validateInput(call: CallScope, args: unknown): Steps<unknown> {
  const { definition, task, abort } = call
  const { schema, parsesOnce } = definition
  if (parsesOnce && isParsed(schema, args)) return args
  const checking = parsesOnce ? runSchema(schema, args) : schema['~standard'].validate(args)
  const result: SchemaResult = isPromise(checking)
    ? ((yield withTimeout(abort.race(checking), {
        timeoutMs: task.timeoutMs,
        timedOut: (timeoutMs) => lateBeginError(definition.metadata.name, timeoutMs),
      })) as SchemaResult)
    : checking
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(({ path = [], message }) => ({
    path: steps(path).map(shortName).join('.'),
    message: withShortNames(message, valueAt(args, steps(path))),
  }))
  const list = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new SmithersError(
    'INVALID_INPUT',
    `The input of tool "${definition.metadata.name}" is invalid. ${list.join('; ')}. Correct the input and call the tool again.`,
    { details: { toolName: definition.metadata.name, issues }, effect: 'none' },
  )
}

/** Characters of a property's name that the log keeps. */
const maxNameLength = 64

/** What the log may see of arguments that do not fit the schema: a mapper of the tool could not read them. */
export function describeInvalidInput(definition: ToolDefinition, given: unknown): unknown {
  if (definition.logInput === undefined) return given
  if (typeof given !== 'object' || given === null) return { $described: shapeOf(given) }
  const shapes = Object.entries(given).map(([key, value]) => [shortName(key), shapeOf(value)])
  return { $described: 'invalid input', properties: Object.fromEntries(shapes) as unknown }
}

type Path = readonly (PropertyKey | { readonly key: PropertyKey })[]

function steps(path: Path): string[] {
  return path.map((step) => String(typeof step === 'object' ? step.key : step))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), value)
}

/** Messages name the properties that a schema does not know. */
function withShortNames(message: string, value: unknown): string {
  if (!isObject(value) || message.length <= maxNameLength) return message
  const long = Object.keys(value).filter((name) => name.length > maxNameLength)
  return long
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, name) => text.replaceAll(name, () => shortName(name)), message)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A name that no schema knows may be anything, a whole document too. */
function shortName(name: string): string {
  if (name.length <= maxNameLength) return name
  return `${name.slice(0, maxNameLength).toWellFormed()}… (${name.length} characters)`
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `string of ${Buffer.byteLength(value)} bytes`
  if (Array.isArray(value)) return `array of ${value.length}`
  return value === null ? 'null' : typeof value
}

function isPromise<Value extends object>(
  value: Value | PromiseLike<Value>,
): value is PromiseLike<Value> {
  return 'then' in value
}

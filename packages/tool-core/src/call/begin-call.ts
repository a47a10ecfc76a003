import { isThenable, settled, type Steps } from '../async/maybe-promise.ts'
import { invalidBefore } from '../contract/tool-call-options.ts'
import { identifyCall } from '../history/call-identity.ts'
import { answeredError } from '../journal/final-answer.ts'
import { CallAdmission } from './admit-call.ts'
import { type BegunCall, type CallScope, stoppedError, waitError } from './call-scope.ts'
import { hintAtMissingRun } from './definition-warning.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { isSuperseded, lateBeginError } from '../journal/call-errors.ts'
import { withTimeout } from '../async/with-timeout.ts'
import { runSchema, type SchemaResult } from '../contract/run-schema.ts'
import { isParsed } from './parsed-input.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/** Validates, derives the key, decides, and stores the start row. Throws when the tool must not run. */
export function* beginCall(call: CallScope, given: unknown): Steps<BegunCall> {
  const { definition, task, journal, history, options, record, finish } = call
  if (task.ephemeral && finish.unsafe) hintAtMissingRun(definition)
  history.notes.forget(options.toolCallId, options.messages.length)
  try {
    yield* journal.open(call.abort)
  } catch (error) {
    if (isSuperseded(error)) finish.superseded(error)
    const ended = waitError(call, error)
    if (ended !== error) return yield* finish.refuse(ended)
    finish.withoutLog(error)
  }
  let args: unknown
  try {
    const answered = call.answeredBefore === false ? false : yield* settled(call.answeredBefore)
    const stopped = answered ? answeredError(record.row.toolName) : stoppedError(call)
    if (stopped !== undefined) throw stopped
    args = yield* validateInput(call, given)
    const refusal = options[invalidBefore]
    if (refusal !== undefined) throw refusal
  } catch (error) {
    record.describeGiven(describeInvalidInput(definition, given))
    return yield* finish.refuse(waitError(call, error))
  }
  let admission: CallAdmission
  try {
    admission = identify(call, args)
  } catch (error) {
    return yield* finish.refuse(error)
  }
  call.settleFinalAnswer?.(true)
  return yield* admission.admit()
}

/** Finds out which call of its task this is. */
function identify(call: CallScope, args: unknown): CallAdmission {
  const { definition, task, journal, history, options, record, finish } = call
  const { name } = definition.metadata
  record.describeInput(args)
  const identity = identifyCall(definition, task, journal.policy, args)
  const found = history.locate(name, identity, options.toolCallId, options.messages)
  // A key of the tool's own names the intent, so another key is another intent.
  const mayBeReworded = finish.unsafe && found.prior.length === 0 && definition.key === 'call'
  const reworded = mayBeReworded ? history.rewordedFrom(name) : undefined
  record.identify(identity, found.occurrence)
  const { prior, continued } = found
  return new CallAdmission(call, { args, identity, prior, reworded, continued })
}

/**
 * Parses the arguments of a call with the tool's schema, also when `execute` is called directly; once, when the AI SDK
 * has already parsed them.
 *
 * @throws SmithersError `INVALID_INPUT`, naming each place and what is wrong there, never the value.
 */
function* validateInput(call: CallScope, args: unknown): Steps<unknown> {
  const { definition, task, abort } = call
  const { schema, parsesOnce } = definition
  if (parsesOnce && isParsed(schema, args)) return args
  const checking = parsesOnce ? runSchema(schema, args) : schema['~standard'].validate(args)
  const result: SchemaResult = isThenable(checking)
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
function describeInvalidInput(definition: ToolDefinition, given: unknown): unknown {
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

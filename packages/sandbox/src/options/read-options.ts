import { SandboxError } from '../errors/sandbox-error.ts'
import { nearestOption } from './nearest-option.ts'
import type { OptionFields, OptionReader } from './option-reader.ts'

/** One reader for each option of a type: the compiler reports a missing one. */
export type FieldsOf<Options> = { readonly [Name in keyof Options]-?: OptionReader }

/**
 * Reads each option of a call once and returns a frozen copy.
 * *Guarantees*: refuses names that are not in `fields`, at any depth, and values that their reader rejects. A misspelt or
 * misplaced rule never means "no rule".
 *
 * @throws SandboxError `INVALID_INPUT`, suggesting the closest existing name
 */
export function readOptions<Options extends object>(
  given: Options,
  fields: FieldsOf<Options>,
): Options {
  const all: OptionFields = fields
  // `FieldsOf` pairs each field with its reader.
  return readFields(given, { name: '', fields: all, all }) as Options
}

/** A reader that accepts values passing `test`. `expected` completes the message "Pass …". */
export function accepts(expected: string, test: (value: unknown) => boolean): OptionReader {
  return (value, name) => {
    if (test(value)) return value
    throw invalidOption(name, value, expected)
  }
}

/** A reader for a group of options. */
export function fieldsOf(fields: OptionFields): OptionReader {
  return Object.assign(
    (value: unknown, name: string, all: OptionFields) => readFields(value, { name, fields, all }),
    { fields },
  )
}

/** A reader for one of some words, or for a group of options. */
export function wordOrFields(words: readonly string[], nested: OptionReader): OptionReader {
  const isWord = accepts(`one of ${quoted(words)}, or an object`, (value) =>
    words.includes(value as string),
  )
  return (value, name, all) =>
    (typeof value === 'object' && value !== null ? nested : isWord)(value, name, all)
}

export function oneOf(words: readonly string[]): OptionReader {
  return accepts(quoted(words), (value) => words.includes(value as string))
}

export function listOf(item: OptionReader): OptionReader {
  return (value, name, all) => {
    if (!Array.isArray(value)) throw invalidOption(name, value, 'an array')
    // Array.from visits holes too.
    return Object.freeze(
      Array.from(value, (each: unknown, index) => item(each, `${name}[${index}]`, all)),
    )
  }
}

/** Makes leaving an option out an error. */
export function required(reader: OptionReader): OptionReader {
  return Object.assign(
    (value: unknown, name: string, all: OptionFields) => reader(value, name, all),
    { ...reader, required: true },
  )
}

export const flag: OptionReader = accepts('true or false', (value) => typeof value === 'boolean')
export const callback: OptionReader = accepts('a function', (value) => typeof value === 'function')
export const text: OptionReader = accepts(
  'a non-empty string without NUL characters',
  (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
)

export function wholeNumber(unit: string, maximum: number): OptionReader {
  return accepts(
    `a whole number of ${unit} from 1 to ${maximum}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= maximum,
  )
}

export function invalidOption(name: string, value: unknown, expected: string): SandboxError {
  return new SandboxError('INVALID_INPUT', `${name} is ${shownValue(value)}. Pass ${expected}.`, {
    details: { option: name },
    effect: 'none',
  })
}

/** A short form of a value for messages. Never shows the contents of an object, which may be secret. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncated(value))
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

interface Group {
  /** Empty for the options themselves. */
  readonly name: string
  readonly fields: OptionFields
  readonly all: OptionFields
}

function readFields(value: unknown, { name, fields, all }: Group): unknown {
  if (!isPlainObject(value)) {
    // Object.entries skips inherited properties, so a rule on a prototype would be lost.
    throw invalidOption(name === '' ? 'The options argument' : name, value, 'a plain object')
  }
  const prefix = name === '' ? '' : `${name}.`
  // File methods read their options at every call, so this makes no copies on the way. A null prototype: no option is
  // given that was not.
  const given = Object.create(null) as Record<string, unknown>
  for (const field of Object.keys(value)) {
    const each = (value as Readonly<Record<string, unknown>>)[field]
    if (each === undefined) continue
    if (!Object.hasOwn(fields, field)) {
      throw unknownOption({ name, fields, all }, prefix + field, each)
    }
    given[field] = each
  }
  const read: Record<string, unknown> = {}
  for (const field of Object.keys(fields)) {
    const reader = fields[field]
    if (reader !== undefined && (given[field] !== undefined || reader.required === true)) {
      read[field] = reader(given[field], prefix + field, all)
    }
  }
  return Object.freeze(read)
}

/** An object literal, from this realm or another. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function unknownOption(
  { name, fields, all }: Group,
  unknown: string,
  value: unknown,
): SandboxError {
  const near = nearestOption(unknown, value, all)
  const advice = near === undefined ? '' : ` Did you mean ${near}?`
  const known = Object.keys(fields)
  return new SandboxError(
    'INVALID_INPUT',
    `Unknown option ${JSON.stringify(truncated(unknown))}.${advice} The options${name === '' ? '' : ` of ${name}`} are ${known.join(', ')}.`,
    {
      details: { option: truncated(unknown), known, ...(near === undefined ? {} : { near }) },
      effect: 'none',
    },
  )
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' or ')
}

function truncated(value: string): string {
  return value.length > 100 ? `${value.slice(0, 100)}…` : value
}

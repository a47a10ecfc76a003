import canonicalize from 'canonicalize'
import { digest } from './digest.ts'
import { fingerprint } from './fingerprint.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/**
 * Serialises a value to the one text that equal values share: RFC 8785, with a tagged form for what JSON cannot say. Properties that are `undefined` are left out.
 *
 * | value | form |
 * |---|---|
 * | `Date` | `{"$date":"2026-01-01T00:00:00.000Z"}` |
 * | `bigint` | `{"$bigint":"10"}` |
 * | bytes (`ArrayBuffer` and its views) | `{"$sha256":"…"}` |
 * | `NaN`, `Infinity`, `-Infinity` | `{"$num":"NaN"}` |
 * | `Map` | `{"$map":[[key,value],…]}`, sorted |
 * | `Set` | `{"$set":[…]}`, sorted |
 * | `undefined` in an array | `{"$undefined":true}` |
 * | a string of more than 4096 code units | `{"$text":"…"}`, the SHA-256 of its UTF-8 in hexadecimal |
 * | a string with lone surrogates | `{"$utf16":"…"}`, its code units in hexadecimal |
 * | an object whose only key is one of these tags | `{"$object":{…}}`, so that no two values share a text |
 *
 * @throws SmithersError `TOOL_INPUT_NOT_CANONICAL` for functions, symbols, class instances, invalid dates, cycles and
 *   values nested deeper than 1000 levels.
 */
export function canonicalJson(value: unknown): string {
  return canonicalize(tagged(value, '$', 0)) as string
}

const maxDepth = 1000
/** Quoting a longer text, to hash it after all, takes longer than everything else that is done for a call. */
const maxPlainLength = 4096
const tags = new Set([
  '$date',
  '$bigint',
  '$sha256',
  '$num',
  '$map',
  '$set',
  '$undefined',
  '$utf16',
  '$text',
  '$object',
])

/** The value itself when it is plain JSON throughout, which costs no copy; else a copy with tags. */
function tagged(value: unknown, path: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return taggedText(value)
    case 'number':
      return Number.isFinite(value) ? value : { $num: String(value) }
    case 'boolean':
      return value
    case 'bigint':
      return { $bigint: String(value) }
    case 'undefined':
      return { $undefined: true }
    case 'object':
      return value === null ? null : taggedObject(value, path, depth)
    default:
      throw notCanonical(path, `a ${typeof value}`)
  }
}

function taggedText(value: string): unknown {
  if (!value.isWellFormed()) return { $utf16: Buffer.from(value, 'utf16le').toString('hex') }
  return value.length > maxPlainLength ? { $text: fingerprint(value).sha256 } : value
}

function taggedObject(value: object, path: string, depth: number): unknown {
  if (depth > maxDepth) {
    throw notCanonical(
      path.slice(0, 60),
      `nested deeper than ${maxDepth} levels, or contains itself`,
    )
  }
  if (Array.isArray(value)) return taggedArray(value, path, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    return taggedRecord(value as Record<string, unknown>, path, depth)
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw notCanonical(path, 'an invalid date')
    return { $date: value.toISOString() }
  }
  if (ArrayBuffer.isView(value)) {
    return {
      $sha256: digest('sha256', new Uint8Array(value.buffer, value.byteOffset, value.byteLength)),
    }
  }
  if (value instanceof ArrayBuffer) return { $sha256: digest('sha256', new Uint8Array(value)) }
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, item]) => [
      tagged(key, `${path}.key`, depth + 1),
      tagged(item, `${path}.value`, depth + 1),
    ])
    return { $map: sortedByText(entries) }
  }
  if (value instanceof Set) {
    return { $set: sortedByText(Array.from(value, (item) => tagged(item, path, depth + 1))) }
  }
  throw notCanonical(path, `an instance of ${value.constructor?.name || 'a class'}`)
}

function taggedArray(value: readonly unknown[], path: string, depth: number): unknown {
  let copy: unknown[] | undefined
  for (let index = 0; index < value.length; index += 1) {
    const before = value[index]
    const after = tagged(before, path, depth + 1)
    if (after !== before && copy === undefined) copy = value.slice(0, index)
    copy?.push(after)
  }
  return copy ?? value
}

function taggedRecord(value: Record<string, unknown>, path: string, depth: number): unknown {
  let copy: Record<string, unknown> | undefined
  const keys = Object.keys(value)
  for (const key of keys) {
    if (!key.isWellFormed()) throw notCanonical(path, 'a property name with a lone surrogate')
    const before = value[key]
    if (before === undefined) continue
    const after =
      typeof before === 'object' || typeof before === 'function'
        ? tagged(before, depth < 8 ? `${path}.${key}` : path, depth + 1)
        : tagged(before, path, depth + 1)
    if (after === before) continue
    // Without a prototype, so that a property named __proto__ stays a property.
    copy ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    copy[key] = after
  }
  const result = copy ?? value
  const [only] = keys
  return keys.length === 1 && only !== undefined && tags.has(only) ? { $object: result } : result
}

function sortedByText(values: readonly unknown[]): unknown[] {
  const texts = values.map((value) => [canonicalize(value) as string, value] as const)
  return texts.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, value]) => value)
}

function notCanonical(path: string, what: string): SmithersError {
  return new SmithersError(
    'TOOL_INPUT_NOT_CANONICAL',
    `The arguments have no canonical form: ${path} is ${what}. Use JSON values, dates, bigints, bytes, maps and sets, or give the tool a "key".`,
    { details: { path }, effect: 'none' },
  )
}

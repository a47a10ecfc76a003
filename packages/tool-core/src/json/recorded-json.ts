import { digest } from './digest.ts'
import { describeError } from './describe-error.ts'
import { type Redaction, redactedText } from './redaction.ts'
import { truncatedJson, truncatedText } from './truncated-json.ts'

/** A payload as the log stores it. */
export interface RecordedJson {
  /** Null for `undefined`, which JSON lacks. */
  readonly json: string | null
  /** False when something was hidden, cut or only described, so that the value cannot be had back. */
  readonly exact: boolean
}

/**
 * Serialises a payload for the log. Never throws: what JSON cannot say is tagged as in canonical JSON, and what has no
 * such form (functions, class instances, cycles, bytes) is described, because a call that has run must not fail over
 * its record.
 */
export function recordJson(value: unknown, redaction: Redaction, maxBytes: number): RecordedJson {
  const walk: Walk = { redaction, exact: true, ancestors: [] }
  let json: string | undefined
  try {
    const shown = recordable(value, '', walk, '$')
    if (typeof shown === 'string' && shown.length + 2 > maxBytes) {
      return { json: truncatedText(shown, maxBytes), exact: false }
    }
    json = JSON.stringify(shown)
  } catch {
    walk.exact = false
    json = JSON.stringify({ $described: `${typeof value} that cannot be read` })
  }
  if (json === undefined) return { json: null, exact: value === undefined }
  // A character is at most three bytes of UTF-8, so most payloads need not be measured.
  if (json.length * 3 <= maxBytes || Buffer.byteLength(json) <= maxBytes) {
    return { json, exact: walk.exact }
  }
  return { json: truncatedJson(json, maxBytes), exact: false }
}

const maxDepth = 200

interface Walk {
  readonly redaction: Redaction
  readonly ancestors: object[]
  exact: boolean
}

/** The value itself when `JSON.stringify` says it rightly, else a copy that it can say. */
function recordable(given: unknown, key: string, walk: Walk, path: string): unknown {
  const { redaction } = walk
  let value = given
  if (key !== '' && redaction.hidesKey(key, value)) {
    walk.exact = false
    return redactedText
  }
  if (redaction.replace !== undefined) {
    value = redaction.replace(path, given)
    if (!Object.is(value, given)) walk.exact = false
  }
  switch (typeof value) {
    case 'string': {
      const hidden = redaction.hideIn(value)
      if (hidden !== value) walk.exact = false
      return hidden
    }
    case 'number':
      return Number.isFinite(value) ? value : { $num: String(value) }
    case 'bigint':
      return { $bigint: String(value) }
    case 'function':
      return described(walk, `function ${value.name}`.trimEnd())
    case 'symbol':
      return described(walk, String(value))
    case 'object':
      return value === null ? null : recordableObject(value, walk, path)
    default:
      return value
  }
}

function recordableObject(value: object, walk: Walk, path: string): unknown {
  const { ancestors } = walk
  if (ancestors.includes(value)) {
    walk.exact = false
    return { $cycle: walk.redaction.hideIn(path) }
  }
  if (ancestors.length >= maxDepth) return described(walk, `nested deeper than ${maxDepth} levels`)
  ancestors.push(value)
  try {
    return recordableContents(value, walk, path)
  } catch {
    return described(walk, 'an object that cannot be read')
  } finally {
    ancestors.pop()
  }
}

function recordableContents(value: object, walk: Walk, path: string): unknown {
  if (Array.isArray(value)) return recordableItems(withoutSecretPair(value, walk), walk, path)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) {
    return recordableProperties(value as Record<string, unknown>, walk, path)
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime())
      ? described(walk, 'an invalid date')
      : { $date: value.toISOString() }
  }
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, item]) => [
      recordableItem(key, '', walk, path),
      recordableItem(item, typeof key === 'string' ? key : '', walk, `${path}.${nameOf(key)}`),
    ])
    return { $map: entries }
  }
  if (value instanceof Set) {
    return { $set: Array.from(value, (item) => recordableItem(item, '', walk, path)) }
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return describedBytes(value, walk)
  if (value instanceof Error) {
    walk.exact = false
    return recordableProperties(describeError(value, false, 0), walk, path)
  }
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') {
    // A model sees the same; but the value cannot be read back.
    walk.exact = false
    return recordable(toJSON.call(value) as unknown, '', walk, path)
  }
  walk.exact = false
  const properties = recordableProperties({ ...value }, walk, path) as Record<string, unknown>
  return { $described: value.constructor?.name || 'object', ...properties }
}

function recordableItems(items: readonly unknown[], walk: Walk, path: string): unknown {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index += 1) {
    const before = items[index]
    const after = recordableItem(
      before,
      '',
      walk,
      walk.redaction.replace ? `${path}[${index}]` : path,
    )
    if (after !== before && copy === undefined) copy = items.slice(0, index)
    copy?.push(after)
  }
  return copy ?? items
}

/** Headers are often pairs of a name and a value. */
function withoutSecretPair(items: readonly unknown[], walk: Walk): readonly unknown[] {
  const shown = items.some(isAssignment)
    ? items.map((item) => withoutSecretValue(item, walk))
    : items
  const [name, value] = shown
  if (shown.length !== 2 || typeof name !== 'string' || typeof value !== 'string') return shown
  if (!/^[\w.-]+$/.test(name) || !walk.redaction.hidesKey(name, value)) return shown
  walk.exact = false
  return [name, redactedText]
}

function isAssignment(item: unknown): item is string {
  return typeof item === 'string' && assignment.test(item)
}

/** Hides the value of `NAME=value`, as commands take it, when the name is that of a secret. */
function withoutSecretValue(item: unknown, walk: Walk): unknown {
  const [, dashes = '', name = '', value = ''] = isAssignment(item)
    ? (assignment.exec(item) ?? [])
    : []
  if (value === '' || !walk.redaction.hidesKey(name, value)) return item
  walk.exact = false
  return `${dashes}${name}=${redactedText}`
}

const assignment = /^(-{0,2})([\w.-]+)=(.+)$/s

// JSON leaves an undefined property out, but makes an undefined item null.
function recordableItem(item: unknown, key: string, walk: Walk, path: string): unknown {
  return item === undefined ? { $undefined: true } : recordable(item, key, walk, path)
}

function nameOf(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : '?'
}

const tags = new Set(['$date', '$bigint', '$num', '$map', '$set', '$undefined', '$object'])

function recordableProperties(value: Record<string, unknown>, walk: Walk, path: string): unknown {
  let copy: Record<string, unknown> | undefined
  const keys = Object.keys(value)
  for (const key of keys) {
    const before = value[key]
    const after = recordable(before, key, walk, walk.redaction.replace ? `${path}.${key}` : path)
    const name = walk.redaction.hideIn(key)
    if (after === before && name === key) continue
    // Without a prototype, so that a property named __proto__ stays a property.
    copy ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    if (name === key) {
      copy[key] = after
      continue
    }
    walk.exact = false
    delete copy[key]
    // Of two names that differ in nothing but their secret, neither replaces the other.
    copy[Object.hasOwn(copy, name) ? `${name} ${Object.keys(copy).length}` : name] = after
  }
  // A plain object with a `toJSON` would have JSON.stringify call it; the copy describes it as a function.
  const result = copy ?? value
  const [only] = keys
  return keys.length === 1 && only !== undefined && tags.has(only) ? { $object: result } : result
}

function described(walk: Walk, what: string): unknown {
  walk.exact = false
  return { $described: what }
}

function describedBytes(value: ArrayBufferView | ArrayBuffer, walk: Walk): unknown {
  walk.exact = false
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value)
  return { $sha256: digest('sha256', bytes), bytes: bytes.byteLength }
}

const briefLength = 500

/**
 * Recorded arguments or output, as far as a message has room for them. What is cut off is not kept in memory by what is
 * returned.
 */
export function brief(json: string | null): string {
  if (json === null) return 'not recorded'
  if (json.length <= briefLength) return json
  const head = json.slice(0, briefLength).replace(/[\ud800-\udbff]$/, '')
  // A slice keeps the whole text alive.
  return Buffer.from(`${head}…`, 'utf16le').toString('utf16le')
}

import type { CacheSettings } from '../contract/gate-options.ts'

/** A result as it is shared: the caller's own copy, and the row of the call that made it. */
export interface CachedResult {
  readonly output: unknown
  readonly callToken: string
}

/** What a call finds in the cache. */
export type CacheVisit =
  /** An equal call has the result. */
  | { readonly kind: 'hit'; readonly result: CachedResult }
  /** An equal call is running; undefined when its result cannot be shared. */
  | { readonly kind: 'wait'; readonly result: Promise<CachedResult | undefined> }
  /** This call runs, and tells others how it ended. */
  | { readonly kind: 'lead'; readonly flight: Flight }

/** The one call that runs for all equal ones. */
export interface Flight {
  succeed(output: unknown): void
  fail(error: unknown): void
  /** The call did not run after all: the calls that wait for it look again. */
  abandon(): void
}

/**
 * Remembers results of one tool. Equal calls in parallel wait for the first of them. Every reader gets a copy of
 * its own, so that no reader changes what others read; a result that cannot be copied is not shared.
 */
export class ResultCache {
  readonly #kept = new Map<string, Kept>()
  readonly #flights = new Map<string, Waiting>()

  /** True when a visit would not lead to an execution. */
  has(key: string): boolean {
    return this.#flights.has(key) || this.#fresh(key) !== undefined
  }

  visit(key: string, callToken: string, { ttlMs }: CacheSettings): CacheVisit {
    const kept = this.#fresh(key)
    if (kept !== undefined) return { kind: 'hit', result: copyOf(kept) }
    const running = this.#flights.get(key)
    if (running !== undefined) {
      const { promise } = (running.room ??= waitingRoom())
      const result = promise.then((made) => (made === undefined ? undefined : copyOf(made)))
      return { kind: 'wait', result }
    }
    return { kind: 'lead', flight: this.#take(key, callToken, ttlMs) }
  }

  #take(key: string, callToken: string, ttlMs: number): Flight {
    const waiting: Waiting = { room: undefined }
    this.#flights.set(key, waiting)
    return {
      succeed: (output) => {
        this.#flights.delete(key)
        const copied = copyPlain(output)
        const kept = copied && {
          output: copied.value,
          callToken,
          expiresAtMs: ttlMs === Infinity ? Infinity : performance.now() + ttlMs,
        }
        if (kept !== undefined) this.#keep(key, kept)
        waiting.room?.resolve(kept)
      },
      fail: (error) => {
        this.#flights.delete(key)
        waiting.room?.reject(error)
      },
      abandon: () => {
        this.#flights.delete(key)
        waiting.room?.resolve(undefined)
      },
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept)
    if (this.#kept.size <= mostKept) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }

  #fresh(key: string): Kept | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.expiresAtMs === Infinity) return kept
    if (performance.now() < kept.expiresAtMs) return kept
    this.#kept.delete(key)
    return undefined
  }
}

/** The calls that wait for a running one; usually none, which costs no promise. */
interface Waiting {
  room: PromiseWithResolvers<Kept | undefined> | undefined
}

function waitingRoom(): PromiseWithResolvers<Kept | undefined> {
  return Promise.withResolvers()
}

interface Kept extends CachedResult {
  readonly expiresAtMs: number
}

/** Results of one tool in one run; the oldest makes room. */
const mostKept = 1000

function copyOf({ output, callToken }: Kept): CachedResult {
  return { output: isPrimitive(output) ? output : structuredClone(output), callToken }
}

/** A copy of plain data; undefined for what would lose its nature by being copied. */
function copyPlain(value: unknown): { readonly value: unknown } | undefined {
  if (isPrimitive(value)) return { value }
  try {
    return isPlain(value, 0) ? { value: structuredClone(value) } : undefined
  } catch {
    return undefined
  }
}

function isPrimitive(value: unknown): boolean {
  return (typeof value !== 'object' || value === null) && typeof value !== 'function'
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return isPrimitive(value)
  if (depth > deepest) return false
  if (value instanceof Date || ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return true
  if (value instanceof Map) return [...value].flat().every((item) => isPlain(item, depth + 1))
  if (value instanceof Set) return [...value].every((item) => isPlain(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isPlain(item, depth + 1))
}

const deepest = 100

import { complaintOfUnknown } from './known-options.ts'
import { longestTimerMs } from './longest-timer.ts'

/** Makes an error from what is wrong with the options, and with which one when it is one. */
export type Invalid = (what: string, wrong?: WrongOption) => Error

/** An option that has a wrong value. */
export interface WrongOption {
  readonly option: string
  /** Short, for a message. */
  readonly value: string
}

/** Options as they were given: in JavaScript, or past the types, anything. */
export type Given = Readonly<Record<string, unknown>>

/** The checks of options. Each accepts what was left out and throws for anything else that is wrong. */
export class OptionChecks {
  readonly #invalid: Invalid
  readonly #given: Given
  readonly #prefix: string

  /** @param prefix Of the options' names in messages, such as `retry.` */
  constructor(given: Given, invalid: Invalid, prefix = '') {
    this.#given = given
    this.#invalid = invalid
    this.#prefix = prefix
  }

  /** True for an option that was given. */
  has(name: string): boolean {
    return this.#given[name] !== undefined
  }

  /** Refuses names that `known` lacks; those set to `undefined` count as left out. */
  known(known: Readonly<Record<string, true>>): void {
    const complaint = complaintOfUnknown(this.#given, known)
    if (complaint !== null) throw this.#invalid(complaint)
  }

  /** Null is no default: a value that was lost on its way here must not choose one. */
  notNull(known: Readonly<Record<string, true>>): void {
    for (const name in this.#given) {
      if (this.#given[name] !== null || known[name] !== true) continue
      throw this.wrong(name, 'left out or have a value')
    }
  }

  /** Text that is not empty. */
  names(...names: readonly string[]): void {
    for (const name of names) {
      const value = this.#given[name]
      if (value === undefined || (typeof value === 'string' && value !== '')) continue
      throw this.wrong(name, 'a non-empty string')
    }
  }

  texts(...names: readonly string[]): void {
    for (const name of names) {
      if (this.has(name) && typeof this.#given[name] !== 'string')
        throw this.wrong(name, 'a string')
    }
  }

  flags(...names: readonly string[]): void {
    for (const name of names) {
      if (this.has(name) && typeof this.#given[name] !== 'boolean') {
        throw this.wrong(name, 'true or false')
      }
    }
  }

  functions(...names: readonly string[]): void {
    for (const name of names) {
      if (this.has(name) && typeof this.#given[name] !== 'function') {
        throw this.wrong(name, 'a function')
      }
    }
  }

  /** Functions whose value is used at once: a promise would be taken for it. */
  synchronous(...names: readonly string[]): void {
    for (const name of names) {
      if (isAsyncFunction(this.#given[name])) {
        throw this.wrong(name, 'a function that returns its value at once, not a promise')
      }
    }
  }

  textOrFunction(name: string): void {
    if (!this.has(name) || ['string', 'function'].includes(typeof this.#given[name])) return
    throw this.wrong(name, 'a text or a function')
  }

  oneOf(name: string, values: readonly string[], orElse?: 'function'): void {
    const value = this.#given[name]
    if (value === undefined || (orElse === 'function' && typeof value === 'function')) return
    if (typeof value === 'string' && values.includes(value)) return
    const allowed = values.map((each) => `'${each}'`).join(', ')
    throw this.wrong(name, orElse === undefined ? `one of ${allowed}` : `${allowed} or a function`)
  }

  wholeNumber(name: string, least: number): void {
    const value = this.#given[name]
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= least)) return
    throw this.wrong(name, `a whole number from ${least}`)
  }

  /** Milliseconds that a timer can wait for. */
  duration(name: string, least: 0 | 'more than 0'): void {
    const value = this.#given[name]
    if (value === undefined) return
    const enough = typeof value === 'number' && (least === 0 ? value >= 0 : value > 0)
    if (enough && value <= longestTimerMs) return
    const range =
      least === 0 ? `from 0 to ${longestTimerMs}` : `above 0 and up to ${longestTimerMs}`
    throw this.wrong(name, `a number of milliseconds ${range}`)
  }

  /** More than 0 and at most `most`; without it, any finite number. `unit` completes the sentence. */
  amount(name: string, unit: string, most: number = Number.MAX_VALUE): void {
    const value = this.#given[name]
    if (value === undefined) return
    if (typeof value === 'number' && value > 0 && value <= most) return
    const limit = most === Number.MAX_VALUE ? '' : ` of at most ${most}`
    throw this.wrong(name, `a positive number${limit} ${unit}`)
  }

  /** What `fits` accepts. `expected` completes the sentence "must be". */
  fits(name: string, expected: string, fits: (value: unknown) => boolean): void {
    if (this.has(name) && !fits(this.#given[name])) throw this.wrong(name, expected)
  }

  /** An option that says how to do something that another one asks for, and without it does nothing. */
  needs(name: string, other: string): void {
    if (this.has(name) && !this.has(other)) {
      throw this.#invalid(
        `${this.#prefix}${name} has no effect without ${this.#prefix}${other}. Give both, or neither.`,
      )
    }
  }

  wrong(name: string, expected: string): Error {
    const { inspect } = process.getBuiltinModule('node:util')
    const value = inspect(this.#given[name], { depth: 0, maxStringLength: 50 })
    const option = `${this.#prefix}${name}`
    return this.#invalid(`${option} must be ${expected}, got ${value}.`, { option, value })
  }
}

function isAsyncFunction(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncFunction]'
}

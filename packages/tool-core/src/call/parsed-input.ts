import type { ZodType } from 'zod'
import { traitsOf } from '../contract/schema-traits.ts'

/**
 * Whether what a schema parsed must not be parsed again: the AI SDK hands `execute` the parsed input, and a transformed
 * value, such as a `Date` made from a string, no longer fits the schema it came from; checks of the author's own may
 * ask a service, or count.
 */
export function parsesOnce(schema: ZodType): boolean {
  const { fitsItsOutput, runsFunctions } = traitsOf(schema)
  return !fitsItsOutput || runsFunctions
}

/** Returns a schema that remembers what it parsed, so that a call does not parse it again. */
export function markParsed<Schema extends ZodType>(schema: Schema): Schema {
  return parsesOnce(schema) ? remembering(schema) : schema
}

/** True when a schema made by {@link markParsed} has already parsed this value into itself. */
export function isParsed(schema: ZodType, value: unknown): boolean {
  return typeof value === 'object' && value !== null && parsedBy.get(value)?.has(schema) === true
}

const parsedBy = new WeakMap<object, Set<ZodType>>()

function remembering<Schema extends ZodType>(schema: Schema): Schema {
  const { _zod: original } = schema
  // `parent` makes Zod look up descriptions and other registered metadata on the original.
  const internals = Object.assign(Object.create(original) as typeof original, {
    parent: schema,
    run: (...parameters: Parameters<typeof original.run>) => {
      const result = original.run(...parameters)
      return result instanceof Promise ? result.then(remember) : remember(result)
    },
  })
  function remember<
    Payload extends { readonly value: unknown; readonly issues: readonly unknown[] },
  >(payload: Payload): Payload {
    const { value, issues } = payload
    if (issues.length === 0 && typeof value === 'object' && value !== null) {
      const schemas = parsedBy.get(value) ?? new Set()
      parsedBy.set(value, schemas.add(schema))
    }
    return payload
  }
  return Object.defineProperty(Object.create(schema) as Schema, '_zod', { value: internals })
}

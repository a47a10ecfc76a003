import type { ZodType } from 'zod'

/**
 * Returns a schema that remembers what it parsed, so that a call does not parse it again: the AI SDK hands `execute`
 * the parsed input, and a transformed value, such as a `Date` made from a string, no longer fits the schema it came
 * from. A schema whose output fits it is returned as it is.
 */
export function markParsed<Schema extends ZodType>(schema: Schema): Schema {
  return fitsItsOutput(schema, new Set()) ? schema : remembering(schema)
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

// Types that parse their own output into the same value.
const stable = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'bigint',
  'symbol',
  'null',
  'undefined',
  'void',
  'any',
  'unknown',
  'never',
  'date',
  'literal',
  'enum',
  'file',
  'nan',
  'template_literal',
  'custom',
])

interface Definition {
  readonly type: string
  readonly checks?: readonly Check[]
  readonly [field: string]: unknown
}

interface Check {
  readonly _zod: { readonly def: { readonly check: string; readonly fn?: unknown } }
}

/** A check such as `trim` changes what it checks, and one made with `check` or `superRefine` may; `refine` does not. */
function leavesValue({ _zod: { def } }: Check): boolean {
  if (def.check === 'overwrite') return false
  return def.check !== 'custom' || typeof def.fn === 'function'
}

/** Walks a schema for parts whose output is of another kind than their input. */
function fitsItsOutput(schema: ZodType, seen: Set<ZodType>): boolean {
  if (seen.has(schema)) return true
  seen.add(schema)
  const { _zod: internals } = schema
  const definition = internals.def as unknown as Definition
  if (!(definition.checks ?? []).every(leavesValue)) return false
  if (stable.has(definition.type)) return true
  const parts = partsOf(definition)
  return parts !== undefined && parts.every((part) => fitsItsOutput(part, seen))
}

/** The schemas inside one; undefined when it transforms, or is of a kind not known here. */
function partsOf(definition: Definition): readonly ZodType[] | undefined {
  const part = (name: string): ZodType[] => {
    const value = definition[name]
    return typeof value === 'object' && value !== null && '_zod' in value ? [value as ZodType] : []
  }
  switch (definition.type) {
    case 'object':
      return [...Object.values(definition['shape'] as Record<string, ZodType>), ...part('catchall')]
    case 'array':
      return part('element')
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
    case 'prefault':
      return part('innerType')
    // `default` and `catch` insert unchecked values, which may not fit.
    case 'union':
      return definition['options'] as readonly ZodType[]
    case 'intersection':
      return [...part('left'), ...part('right')]
    case 'tuple':
      return [...(definition['items'] as readonly ZodType[]), ...part('rest')]
    case 'record':
    case 'map':
      return [...part('keyType'), ...part('valueType')]
    case 'set':
      return part('valueType')
    case 'lazy':
      return [(definition['getter'] as () => ZodType)()]
    default:
      return undefined
  }
}

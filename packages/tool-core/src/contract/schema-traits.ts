import type { ZodType } from 'zod'

/** What can be told from a schema without running it. */
export interface SchemaTraits {
  /** Its output fits it, and parsing that again changes nothing. */
  readonly fitsItsOutput: boolean
  /** It runs functions of its author, which may return promises, or do something each time. */
  readonly runsFunctions: boolean
}

const known = new WeakMap<ZodType, SchemaTraits>()

/** Walks a schema, once. A kind of schema that is not known here counts as one that transforms and runs functions. */
export function traitsOf(schema: ZodType): SchemaTraits {
  let traits = known.get(schema)
  if (traits === undefined) {
    traits = {
      fitsItsOutput: everyPart(schema, new Set(), fits),
      runsFunctions: !everyPart(schema, new Set(), runsNone),
    }
    known.set(schema, traits)
  }
  return traits
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

function fits({ checks = [] }: Definition): boolean {
  return checks.every(leavesValue)
}

function runsNone({ type, checks = [] }: Definition): boolean {
  return type !== 'custom' && checks.every(({ _zod: { def } }) => def.check !== 'custom')
}

function everyPart(
  schema: ZodType,
  seen: Set<ZodType>,
  has: (definition: Definition) => boolean,
): boolean {
  if (seen.has(schema)) return true
  seen.add(schema)
  const definition = schema._zod.def as unknown as Definition
  if (!has(definition)) return false
  if (stable.has(definition.type)) return true
  const parts = partsOf(definition)
  return parts !== undefined && parts.every((part) => everyPart(part, seen, has))
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

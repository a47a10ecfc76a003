import { SmithersError } from '@smithers/tool-core'
import { fromJSONSchema, looseObject, type ZodType } from 'zod'

/**
 * A Zod schema of a JSON Schema from elsewhere. A model is shown the JSON Schema as it is. What is checked here is what
 * Zod can say of it, and no regular expression, since one from elsewhere may run forever: the server of the tool
 * checks the rest.
 *
 * @throws SmithersError `INVALID_TOOL` for one that is nested too deeply to be read.
 */
export function zodOf(jsonSchema: unknown, toolName: string): ZodType {
  if (depthOf(jsonSchema) > maxDepth) {
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${toolName}" declares a schema that is nested deeper than ${maxDepth} levels.`,
      { details: { toolName, limit: maxDepth } },
    )
  }
  const schema = isSchema(jsonSchema) ? jsonSchema : { type: 'object' }
  const zod = converted(schema)
  const { _zod: internals } = zod
  // What `z.toJSONSchema`, and with it the AI SDK, looks for first; and then changes.
  internals.toJSONSchema = () => structuredClone(schema)
  return zod
}

const maxDepth = 200

type JsonSchema = Readonly<Record<string, unknown>>

function converted(schema: JsonSchema): ZodType {
  try {
    return fromJSONSchema(relaxed(schema) as Parameters<typeof fromJSONSchema>[0])
  } catch {
    // A reference that leads nowhere, a format of the future: the arguments are an object at least.
    return looseObject({})
  }
}

// Level by level, because a recursion would overflow on the very schemas that this is to find.
function depthOf(value: unknown): number {
  let level: unknown[] = [value]
  let depth = 0
  while (level.length > 0 && depth <= maxDepth) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    )
    depth += 1
  }
  return depth
}

/** Keywords that Zod does not take, or that this does not check. Without them a schema allows more, never less. */
const dropped = new Set([
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  'contentSchema',
  'maxContains',
  'pattern',
  'patternProperties',
  // The tool's own business: it gets what the agent gave.
  'default',
])

const holdsSchema = new Set(['items', 'additionalItems', 'additionalProperties', 'contains'])
const holdsSchemas = new Set(['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf'])
const holdsNamedSchemas = new Set(['properties', '$defs', 'definitions'])

/** A schema that allows all that the given one allows, in words that Zod knows. */
function relaxed(schema: unknown): unknown {
  if (!isSchema(schema)) return schema
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (dropped.has(keyword) || !isKnown(keyword, value)) return []
    // Properties that match a dropped pattern are no additional ones.
    if (keyword === 'additionalProperties' && 'patternProperties' in schema) return []
    // Relaxed, more than one of them may fit.
    if (keyword === 'oneOf') return 'anyOf' in schema ? [] : [['anyOf', within(keyword, value)]]
    return [[keyword, within(keyword, value)]]
  })
  return Object.fromEntries(entries)
}

function within(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) return holdsSchemas.has(keyword) ? value.map(relaxed) : value
  if (holdsSchema.has(keyword)) return relaxed(value)
  if (!holdsNamedSchemas.has(keyword) || !isSchema(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, relaxed(each)]))
}

function isKnown(keyword: string, value: unknown): boolean {
  if (keyword === '$ref') return typeof value === 'string' && value.startsWith('#')
  // Zod would refuse relative ones.
  if (keyword === 'format') return value !== 'uri-reference'
  return keyword !== 'propertyNames'
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

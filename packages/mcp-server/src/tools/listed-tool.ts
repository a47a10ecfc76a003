import { type AnyDefinedTool, SmithersError } from '@smithers/tool-core'
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { toJSONSchema, type ZodType } from 'zod'
import type { ToolFields } from './served-tool.ts'

/** What of a tool decides how it is listed. */
export interface ListedParts {
  readonly name: string
  readonly tool: AnyDefinedTool & ToolFields
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly openWorld: boolean | undefined
}

/**
 * A tool as clients list it: its texts, its schemas and its hints.
 *
 * @throws SmithersError `INVALID_TOOL` when its input is not an object, which the protocol asks for
 */
export function listedTool(parts: ListedParts): Tool {
  const { name, tool } = parts
  const inputSchema = jsonSchemaOf(tool.inputSchema, 'input')
  if (!isObjectSchema(inputSchema)) {
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${name}" cannot be served over MCP: its schema is not an object. Wrap the input: z.object({ input: … }).`,
      { details: { toolName: name }, effect: 'none' },
    )
  }
  const outputSchema = outputSchemaOf(tool.outputSchema)
  return {
    name,
    ...(typeof tool.title === 'string' && { title: tool.title }),
    description: typeof tool.description === 'string' ? tool.description : name,
    inputSchema: { ...inputSchema, type: 'object' },
    ...(outputSchema && { outputSchema: { ...outputSchema, type: 'object' } }),
    annotations: hintsOf(parts),
  }
}

function hintsOf({ sideEffect, idempotent, openWorld }: ListedParts): ToolAnnotations {
  return {
    readOnlyHint: !sideEffect,
    idempotentHint: idempotent,
    destructiveHint: sideEffect,
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
}

type JsonSchema = Readonly<Record<string, unknown>>

function jsonSchemaOf(schema: ZodType, io: 'input' | 'output'): JsonSchema {
  return toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema
}

/** A union of objects, or one that refinements wrap, has no `type` of its own. */
function isObjectSchema(schema: JsonSchema): boolean {
  if (schema['type'] === 'object') return true
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  return Array.isArray(choices) && choices.every((each) => isObjectSchema(each as JsonSchema))
}

/** Undefined for a schema of an output that is not an object: clients of older protocols accept no other. */
function outputSchemaOf(given: unknown): JsonSchema | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const schema =
    '_zod' in given
      ? jsonSchemaOf(given as ZodType, 'output')
      : 'jsonSchema' in given && typeof given.jsonSchema === 'object'
        ? (given.jsonSchema as JsonSchema | null)
        : null
  return schema !== null && isObjectSchema(schema) ? schema : undefined
}

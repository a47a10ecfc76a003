import { z } from 'zod'
import type { BundleOptions } from './bundle-options.ts'

/** The schema of a tool, which refuses arguments that it does not know, by name, where the bundle asks for that. */
export function argumentsOf<Schema extends z.ZodType>(
  schema: Schema,
  { strictArguments }: BundleOptions,
): Schema {
  return strictArguments === true ? strict(schema) : schema
}

/** The same schema with strict objects, at every depth. Descriptions and refinements stay, so the type does, too. */
function strict<Schema extends z.ZodType>(schema: Schema): Schema {
  return copyOf(schema) as Schema
}

function copyOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => [
      name,
      strict(field as z.ZodType),
    ])
    const shape = Object.fromEntries(fields) as typeof schema.shape
    return schema.clone({ ...schema.def, shape, catchall: z.never() }, { parent: true })
  }
  if (schema instanceof z.ZodOptional) {
    const innerType = strict(schema.def.innerType as z.ZodType)
    return schema.clone({ ...schema.def, innerType }, { parent: true })
  }
  if (schema instanceof z.ZodArray) {
    const element = strict(schema.def.element as z.ZodType)
    return schema.clone({ ...schema.def, element }, { parent: true })
  }
  return schema
}

import { z } from 'zod'
import type { BundleOptions } from './bundle-options.ts'

/** The schema of a tool, which refuses arguments that it does not know, by name, where the bundle asks for that. */
export function argumentsOf<Schema extends z.ZodType>(
  schema: Schema,
  { strictArguments }: BundleOptions,
): Schema {
  const isStrict = strictArguments === true && schema instanceof z.ZodObject
  // `strict` keeps the fields and the refinements, so the type of what it parses.
  return isStrict ? (schema.strict() as z.ZodType as Schema) : schema
}

import { z } from 'zod'
import { jsonOutput } from './json-output.ts'

/** {@link jsonOutput} as a JSON Schema. */
export function jsonSchema(): object {
  return z.toJSONSchema(jsonOutput)
}

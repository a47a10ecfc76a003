import type { ZodType } from 'zod'
import { isSchema } from '../values/check-value.ts'

/** The name of an output with its schema: `outputs.NAME` of `createSmithers`. */
export interface OutputReference<Output = unknown, Input = unknown> {
  readonly name: string
  readonly schema: ZodType<Output, Input>
}

export function isOutputReference(value: unknown): value is OutputReference {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as OutputReference).name === 'string' &&
    isSchema((value as OutputReference).schema)
  )
}

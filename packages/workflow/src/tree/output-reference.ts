import type { ZodType } from 'zod'

/** Names an output and carries its schema: what `outputs.NAME` of `createSmithers` is. */
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

/** True for a schema of Zod 4, also of another copy of it. */
export function isSchema(value: unknown): value is ZodType {
  return (
    typeof value === 'object' &&
    value !== null &&
    '_zod' in value &&
    typeof (value as { safeParseAsync?: unknown }).safeParseAsync === 'function'
  )
}

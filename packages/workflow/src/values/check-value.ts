import type { ZodType } from 'zod'

/** The result of checking a value against a schema. */
export type ValueCheck =
  | {
      readonly ok: true
      /** As the schema returned it. */
      readonly value: unknown
      /** As it was given. */
      readonly raw: unknown
    }
  | { readonly ok: false; readonly problem: string }

/** True for a Zod 4 schema, including one from another copy of Zod. */
export function isSchema(value: unknown): value is ZodType {
  return (
    typeof value === 'object' &&
    value !== null &&
    '_zod' in value &&
    typeof (value as { safeParseAsync?: unknown }).safeParseAsync === 'function'
  )
}

/** Checks a value against a schema. A failure lists the first five issues. */
export async function checkValue(schema: ZodType, raw: unknown): Promise<ValueCheck> {
  const result = await schema.safeParseAsync(raw)
  return result.success
    ? { ok: true, value: result.data, raw }
    : { ok: false, problem: describeIssues(result.error) }
}

const maxIssues = 5

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

function describeIssues(error: { readonly issues: readonly Issue[] }): string {
  const shown = error.issues.slice(0, maxIssues).map(({ path, message }) => {
    const property = path.map(String).join('.')
    return property === '' ? message : `${property}: ${message}`
  })
  const more = error.issues.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

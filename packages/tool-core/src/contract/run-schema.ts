import type { ZodType } from 'zod'
import { isThenable, type MaybePromise } from '../async/maybe-promise.ts'
import { traitsOf } from './schema-traits.ts'

/** What a schema made of a value. */
export type SchemaResult = Awaited<ReturnType<ZodType['~standard']['validate']>>

/**
 * Runs a schema once, and its checks with it; a promise only when one of them waits. Zod's standard interface runs a
 * schema synchronously first and again when a check turns out to wait; the first run's promise is then left alone, and
 * its failure ends the process.
 */
export function runSchema(schema: ZodType, value: unknown): MaybePromise<SchemaResult> {
  if (!traitsOf(schema).runsFunctions) return schema['~standard'].validate(value)
  const payload = schema._zod.run({ value, issues: [] }, { async: true })
  return isThenable(payload) ? payload.then(resultOf) : resultOf(payload)
}

type Payload = Awaited<ReturnType<ZodType['_zod']['run']>>

function resultOf({ value, issues }: Payload): MaybePromise<SchemaResult> {
  return issues.length === 0 ? { value } : withMessages(issues)
}

/** Loaded here: only input that does not fit needs messages. */
async function withMessages(issues: Payload['issues']): Promise<SchemaResult> {
  const { core } = await import('zod')
  const config = core.config()
  return { issues: issues.map((issue) => core.util.finalizeIssue(issue, { async: true }, config)) }
}

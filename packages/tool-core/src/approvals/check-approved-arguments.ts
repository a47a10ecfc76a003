import type { ZodType } from 'zod'
import { runSchema, type SchemaResult } from '../contract/run-schema.ts'
import { inTime } from '../async/with-timeout.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** Arguments from an approver, parsed; or the problem with them. */
export type CheckedArguments =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly problem: string }

/** Checks an approver's arguments with a tool's schema. A schema that throws, or takes too long, has accepted nothing. */
export async function checkApprovedArguments(
  schema: ZodType,
  args: unknown,
  timeoutMs: number,
): Promise<CheckedArguments> {
  let result: SchemaResult
  try {
    const tooLate = (): Error => new Error(`its checks took longer than ${timeoutMs} ms`)
    result = await inTime(runSchema(schema, args), timeoutMs, tooLate)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { ok: false, problem: `The schema could not check them: ${why}` }
  }
  if (result.issues === undefined) return { ok: true, args: result.value }
  const problem = result.issues.map(({ path = [], message }) => {
    const name = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
    return name === '' ? message : `${name}: ${message}`
  })
  return { ok: false, problem: problem.join('; ') }
}

/** The schema that a JSON Schema describes, for a process that does not have the tool. */
export async function schemaFromJson(json: string): Promise<ZodType> {
  const { fromJSONSchema } = await import('zod')
  return fromJSONSchema(JSON.parse(json) as Parameters<typeof fromJSONSchema>[0])
}

/** The approver's arguments are wrong. The request stays pending. */
export function argumentsRefused(
  toolName: string,
  approvalId: string,
  problem: string,
): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `The approved arguments do not match the schema of tool "${toolName}". ${problem}. Approval ${approvalId} stays pending; correct the arguments and decide again.`,
    { details: { toolName, approvalId, problem }, effect: 'none' },
  )
}

import { SmithersError, type ToolRun } from '@smithers/tool-core'
import { boundedLog } from '@smithers/tool-core/log'
import type { ResolvedTask } from './resolved-task.ts'

/**
 * The option `allow`.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function allowedKeys(allow: readonly string[] = []): readonly string[] {
  if (Array.isArray(allow) && allow.every((key) => typeof key === 'string' && key !== '')) {
    return allow
  }
  throw new SmithersError('INVALID_INPUT', 'allow must be a list of idempotency keys.', {
    details: { option: 'allow' },
    effect: 'none',
  })
}

/** Gives the permissions of a task to one attempt, except those that an earlier attempt has used. */
export async function allowKeys(
  run: ToolRun,
  { allow, firstAttempt, toolOptions }: ResolvedTask,
): Promise<void> {
  if (allow.length === 0) return
  const { runId, attempt } = run.context
  const log = boundedLog(run.context.log, toolOptions.logTimeoutMs ?? 30_000)
  for (const key of allow) {
    const calls = attempt === firstAttempt ? [] : await log.list({ runId, idempotencyKey: key })
    const used = calls.some((call) => call.attempt >= firstAttempt && call.effect !== 'none')
    if (!used) run.allow(key)
  }
}

import { previewOf } from '../approvals/approval-preview.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { CallScope } from './call-scope.ts'

/**
 * Puts the patch of a call into its row, for a tool that shows one. A preview that fails says so there: it must not fail
 * the call.
 */
export function recordContents(
  call: CallScope,
  args: unknown,
  context: () => ToolContext,
): MaybePromise<void> {
  const isAsked = call.journal.policy.recordContents && call.definition.preview !== undefined
  return isAsked ? describe(call, args, context) : undefined
}

async function describe(
  { definition, record, task }: CallScope,
  args: unknown,
  context: () => ToolContext,
): Promise<void> {
  const { preview, timeoutMs = task.timeoutMs } = definition
  if (preview === undefined) return
  // Again after a wait for another worker: the file may have changed.
  record.describeInput(args)
  try {
    const shown = await previewOf(preview, args, context(), timeoutMs)
    if (typeof shown !== 'string') record.describePatch(shown.patch)
  } catch (error) {
    const name = error instanceof Error ? error.name : 'an error'
    record.describePatch({ $described: `not recorded: the preview failed with ${name}` })
  }
}

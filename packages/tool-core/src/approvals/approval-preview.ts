import { withTimeout } from '../async/with-timeout.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import type { ToolContext } from '../contract/task-context.ts'
import { recordJson } from '../json/recorded-json.ts'
import type { ApprovableCall } from './approvable-call.ts'

/**
 * What a call would do, as JSON for the approver: redacted, and at most 64 KiB. Null for a tool that shows nothing, and
 * in a run with `previews: false`. A preview that fails says so: the approver decides without it.
 */
export async function approvalPreview(
  { args, context, policy, definition, task }: ApprovableCall,
  { preview }: ApprovalSettings,
): Promise<string | null> {
  if (preview === undefined || !policy.previews) return null
  const timeoutMs = definition.timeoutMs ?? task.timeoutMs
  let shown: unknown
  try {
    shown = await previewOf(preview, args, context(), timeoutMs)
  } catch (error) {
    if (context().abortSignal.aborted) throw error
    shown = `The preview failed: ${error instanceof Error ? error.message : String(error)}`
  }
  return recordJson(shown, policy.redact, longestPreviewBytes).json
}

/** What a tool says that a call would do. Throws when it fails, takes too long, or says something else. */
export async function previewOf(
  preview: NonNullable<ApprovalSettings['preview']>,
  args: unknown,
  ctx: ToolContext,
  timeoutMs: number,
): Promise<string | { readonly patch: string }> {
  const shown: unknown = await withTimeout((async () => preview(args, ctx))(), {
    timeoutMs,
    timedOut: () => new Error(`it took longer than ${timeoutMs} ms`),
    signal: ctx.abortSignal,
  })
  if (!isPreview(shown)) throw new Error('approvalPreview must return a text or { patch }')
  return shown
}

function isPreview(value: unknown): value is string | { readonly patch: string } {
  if (typeof value === 'string') return true
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly patch?: unknown }).patch === 'string'
  )
}

const longestPreviewBytes = 64 * 1024

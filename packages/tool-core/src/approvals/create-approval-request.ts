import type { ApprovalSettings } from '../contract/gate-options.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { loggedInput } from '../journal/log-mappers.ts'
import { recordJson } from '../json/recorded-json.ts'
import { type Redaction, redactedText } from '../json/redaction.ts'
import type { ApprovalRow } from '../log/approval-store.ts'
import { nowOf } from '../log/log-clock.ts'
import { approvalPreview } from './approval-preview.ts'
import type { ApprovableCall } from './approvable-call.ts'

/**
 * Describes a call to the approver, as the store keeps it: with nothing that the log may not hold.
 *
 * @param note What the log knows of an earlier execution of the same call.
 */
export async function createApprovalRequest(
  call: ApprovableCall,
  settings: ApprovalSettings,
  note?: string,
): Promise<ApprovalRow> {
  const { definition, task, policy, row, callKey, args } = call
  const { runId, nodeId, iteration, attempt, toolName, inputJson, idempotencyKey } = row
  const requestedAtMs = nowOf(task.log)
  const defaults = settings.defaults?.(args)
  return {
    id: `apr_${crypto.randomUUID()}`,
    runId,
    nodeId,
    iteration,
    attempt,
    toolName,
    toolCallId: row.toolCallId ?? '',
    callKey,
    inputHash: row.inputHash ?? '',
    idempotencyKey,
    inputJson,
    inputSchemaJson: await jsonSchemaOf(definition),
    prompt: promptWithNote(note, settings.prompt, call),
    defaultsJson:
      defaults === undefined
        ? null
        : recordJson(loggedInput(definition, defaults), policy.redact, task.maxOutputBytes).json,
    requestedAtMs,
    expiresAtMs: settings.ttlMs === undefined ? null : requestedAtMs + settings.ttlMs,
    ...undecided,
    previewJson: await approvalPreview(call, settings),
  }
}

/** The fields of a request without a decision. */
export const undecided: Pick<
  ApprovalRow,
  'status' | 'decidedAtMs' | 'decidedBy' | 'comment' | 'approvedArgsJson'
> = {
  status: 'pending',
  decidedAtMs: null,
  decidedBy: null,
  comment: null,
  approvedArgsJson: null,
}

/** A note and the tool author's prompt as one text; null without either. */
export function promptWithNote(
  note: string | undefined,
  prompt: ApprovalSettings['prompt'],
  { args, row, policy }: Pick<ApprovableCall, 'args' | 'row' | 'policy'>,
): string | null {
  const texts = [note, promptText(prompt, args, row.inputJson, policy.redact)]
  return texts.filter((text) => text !== undefined).join(' ') || null
}

/** The tool author's prompt. `{{name}}` and `{{name.inner}}` are replaced by arguments as the log shows them. */
export function promptText(
  prompt: ApprovalSettings['prompt'],
  args: unknown,
  inputJson: string | null,
  redact: Redaction,
): string | undefined {
  if (prompt === undefined) return undefined
  if (typeof prompt === 'function') return redact.hideIn(prompt(args))
  if (!prompt.includes('{{')) return prompt
  const shown: unknown = inputJson === null ? undefined : JSON.parse(inputJson)
  return prompt.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (whole, path: string) => {
    const value = valueAt(shown, path.split('.'))
    if (value === undefined) return whole
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) {
      return undefined
    }
    current = (current as Record<string, unknown>)[name]
  }
  return current === redactedText ? undefined : current
}

async function jsonSchemaOf({ schema }: ToolDefinition): Promise<string | null> {
  try {
    // Loaded here: only a tool that needs approval needs its schema as JSON.
    const { toJSONSchema } = await import('zod')
    return JSON.stringify(toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  } catch {
    return null
  }
}

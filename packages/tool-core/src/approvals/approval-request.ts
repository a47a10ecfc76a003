import { type Redaction, redactedText } from '../json/redaction.ts'
import { loggedInput } from '../journal/log-mappers.ts'
import { recordJson } from '../json/recorded-json.ts'
import type { ApprovalRow } from '../log/approval-store.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'

/** What a question to the approver is made of. */
export interface ApprovalSubject {
  readonly definition: ToolDefinition
  readonly settings: ApprovalSettings
  readonly row: StartRow
  readonly callKey: string
  readonly args: unknown
  readonly redact: Redaction
  readonly maxBytes: number
  /** What is known of an earlier execution of the same call. */
  readonly note: string | undefined
}

/** Puts a question to the approver, as it is stored: it holds nothing that the log may not hold. */
export async function approvalRequest(subject: ApprovalSubject): Promise<ApprovalRow> {
  const { definition, settings, row, callKey, args, redact, maxBytes, note } = subject
  const { runId, nodeId, iteration, attempt, toolName, inputJson, idempotencyKey } = row
  const requestedAtMs = Date.now()
  const prompt = [note, promptText(settings.prompt, args, inputJson, redact)]
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
    idempotencyKey,
    inputJson,
    inputSchemaJson: await jsonSchemaOf(definition),
    prompt: prompt.filter((text) => text !== undefined).join(' ') || null,
    defaultsJson:
      defaults === undefined
        ? null
        : recordJson(loggedInput(definition, defaults), redact, maxBytes).json,
    requestedAtMs,
    expiresAtMs: settings.ttlMs === undefined ? null : requestedAtMs + settings.ttlMs,
    ...undecided,
  }
}

/** What a question holds until somebody answers it. */
export const undecided: Pick<
  ApprovalRow,
  | 'status'
  | 'decidedAtMs'
  | 'decidedBy'
  | 'comment'
  | 'approvedArgsJson'
  | 'usedBy'
  | 'usedByOwner'
  | 'usedAtMs'
> = {
  status: 'pending',
  decidedAtMs: null,
  decidedBy: null,
  comment: null,
  approvedArgsJson: null,
  usedBy: null,
  usedByOwner: null,
  usedAtMs: null,
}

/** The tool author's question. `{{name}}` and `{{name.inner}}` stand for arguments as the log shows them. */
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

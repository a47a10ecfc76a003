import type { ApprovalRow } from '@smithers/tool-core'
import { inputRequired, type InputRequests } from '@modelcontextprotocol/server'
import { printable, shortened } from '../text/printable.ts'

/** The key of the question in a result and of its answer in the next request. */
export const questionKey = 'approve'

/** Longer than a preview can be, so that only arguments of an unusual size are cut. */
const longestShown = 100_000

/** The question to the person at the client: what the call would do, and a yes or no. */
export function approvalQuestion(row: ApprovalRow): InputRequests {
  const question = inputRequired.elicit({
    mode: 'form',
    message: messageOf(row),
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Approve', description: 'Let the tool run once.' },
        comment: { type: 'string', title: 'Comment', description: 'The agent reads it.' },
      },
      required: ['approve'],
    },
  })
  return { [questionKey]: question }
}

function messageOf({ toolName, prompt, previewJson, inputJson }: ApprovalRow): string {
  const lines = [
    `Allow one call of "${toolName}"?`,
    ...(prompt === null ? [] : [prompt]),
    previewOf(previewJson) ?? `Arguments: ${inputJson ?? 'not recorded'}`,
  ]
  const text = printable(lines.join('\n\n'))
  if (text.length <= longestShown) return text
  // First, so that a long beginning cannot hide it.
  const missing = `CUT: the last ${text.length - longestShown} of ${text.length} characters are not shown. Do not approve what you cannot see.`
  return `${missing}\n\n${shortened(text, longestShown)}`
}

/** A text, or the patch of `{ patch }`. */
function previewOf(json: string | null): string | undefined {
  if (json === null) return undefined
  const preview: unknown = JSON.parse(json)
  if (typeof preview === 'string') return preview
  const { patch } = (preview ?? {}) as { readonly patch?: unknown }
  return typeof patch === 'string' ? patch : json
}

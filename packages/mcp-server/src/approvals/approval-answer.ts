import { inputResponse } from '@modelcontextprotocol/server'
import { printableLine, shortened } from '../text/printable.ts'
import { questionKey } from './approval-question.ts'

/** What the person at the client said. */
export interface ApprovalAnswer {
  readonly approved: boolean
  readonly comment: string | undefined
}

/** The answer in a request; undefined when there is none. Only a plain yes is a yes. */
export function approvalAnswer(
  responses: Record<string, unknown> | undefined,
): ApprovalAnswer | undefined {
  const response = inputResponse(responses, questionKey)
  if (response.kind !== 'elicit') return undefined
  const { action, content } = response
  const said = content?.['comment']
  const comment = typeof said === 'string' && said !== '' ? printableLine(said) : undefined
  const approved = action === 'accept' && content?.['approve'] === true
  return { approved, comment: comment && shortened(comment, longestComment) }
}

const longestComment = 2000

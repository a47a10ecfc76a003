import { SmithersError } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { checkValue, type ValueCheck } from '../values/check-value.ts'

/** Instructions for a model to answer with a value of `schema`. */
export async function outputInstructions(schema: ZodType): Promise<string> {
  // Loaded here: a workflow without agents needs no JSON Schema.
  const { toJSONSchema } = await import('zod')
  const { $schema: _, ...description } = toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  })
  return `End with an answer that is only a JSON value matching this JSON Schema, without any other text:\n${JSON.stringify(description)}`
}

/** Instructions for a model that has a tool for its answer. The tool shows it the schema. */
export function answerToolInstructions(toolName: string): string {
  return `End by calling the tool "${toolName}" once, with your answer, when everything else is done.`
}

/** The request to a model that ended without calling the tool for its answer. */
export function answerToolRequest(toolName: string): string {
  return `You have not answered yet. Call the tool "${toolName}" with your answer. What you have done so far remains in effect: do not repeat it.`
}

/** The request to a model whose answer did not match. */
export function repairRequest(problem: string): string {
  return `Your answer does not match the schema: ${problem}. Answer again with only the corrected JSON value. What you have done so far remains in effect: do not repeat it.`
}

/**
 * Checks the answer of a model: bare JSON, JSON in a code block, or JSON after other text; for a string schema also the
 * text itself.
 *
 * @param structured The value that the agent parsed itself, if it has an output of its own.
 */
export async function checkAnswer(
  schema: ZodType,
  text: string,
  structured: unknown,
): Promise<ValueCheck> {
  let first: ValueCheck | null = null
  for (const candidate of candidatesOf(text, structured)) {
    const check = await checkValue(schema, candidate)
    if (check.ok) return check
    first ??= check
  }
  const asText = await checkValue(schema, text)
  if (asText.ok) return asText
  if (first !== null) return first
  return {
    ok: false,
    problem: text.trim() === '' ? 'the answer is empty' : 'the answer contains no JSON',
  }
}

/** The error of a task whose output does not match. */
export function outputInvalid(nodeId: string, problem: string, repairs: number): SmithersError {
  const after = repairs === 0 ? '' : ` after ${repairs} ${repairs === 1 ? 'repair' : 'repairs'}`
  return new SmithersError(
    'TASK_OUTPUT_INVALID',
    `The output of task "${nodeId}" does not match its schema${after}: ${problem}. Change the prompt, the schema, or allow more repairs.`,
    { details: { nodeId, problem, repairs } },
  )
}

function* candidatesOf(text: string, structured: unknown): Generator {
  if (structured !== undefined && typeof structured !== 'string') yield structured
  const blocks = [...text.matchAll(/```(?:json)?\s*\n(.*?)```/gs)].map(([, block]) => block ?? '')
  const outermost = /[[{].*[\]}]/s.exec(text)?.[0]
  for (const source of [text, ...blocks.toReversed(), outermost]) {
    if (source === undefined) continue
    try {
      yield JSON.parse(source) as unknown
    } catch {
      // Not JSON; the next candidate may be.
    }
  }
}

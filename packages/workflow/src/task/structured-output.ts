import { SmithersError } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { checkValue, type ValueCheck } from '../values/check-value.ts'

/** What a model must be told to answer with a value of `schema`. */
export async function outputInstructions(schema: ZodType): Promise<string> {
  // Loaded here: a workflow without agents needs no JSON Schema.
  const { toJSONSchema } = await import('zod')
  const { $schema: _, ...description } = toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  })
  return `End with an answer that is only a JSON value matching this JSON Schema, without any other text:\n${JSON.stringify(description)}`
}

/** What a model must be told that has a tool for its answer, which shows it the schema. */
export function answerToolInstructions(toolName: string): string {
  return `End by calling the tool "${toolName}" once, with your answer, when everything else is done.`
}

/** What a model is told that has ended without calling the tool for its answer. */
export function answerToolRequest(toolName: string): string {
  return `You have not answered yet. Call the tool "${toolName}" with your answer. What you have already done stands: do not do it again.`
}

/** What a model is told when its answer did not match. */
export function repairRequest(problem: string): string {
  return `Your answer does not match the schema: ${problem}. Answer again with only the corrected JSON value. What you have already done stands: do not do it again.`
}

/**
 * Checks the answer of a model: JSON alone, in a code block or after some words; for a schema of a text also the text.
 *
 * @param structured The value that the agent parsed by itself, when it has an output of its own.
 */
export async function checkAnswer(
  schema: ZodType,
  text: string,
  structured: unknown,
): Promise<ValueCheck> {
  let first: ValueCheck | null = null
  for (const candidate of candidatesOf(text, structured)) {
    const verdict = await checkValue(schema, candidate)
    if (verdict.ok) return verdict
    first ??= verdict
  }
  const asText = await checkValue(schema, text)
  if (asText.ok) return asText
  if (first !== null) return first
  return {
    ok: false,
    problem: text.trim() === '' ? 'the answer is empty' : 'the answer holds no JSON',
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
      // Not this one.
    }
  }
}

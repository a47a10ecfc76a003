import { type RunRow, SmithersError } from '@smithers/tool-core'
import type { WorkflowDefinition } from '../define/workflow-definition.ts'
import { plainJson } from '../values/plain-json.ts'
import { checkValue, type ValueCheck } from '../values/check-value.ts'
import { invalidWorkflow } from '../errors/invalid-workflow.ts'

/** An input as it was given. */
export interface GivenRunInput {
  /** Null when it cannot be recorded. */
  readonly json: string | null
  /** Why it cannot. */
  readonly error: SmithersError | null
}

/** Serialises the input of a run. A failure is returned, because it belongs to the run that is about to begin. */
export function givenInput(given: unknown): GivenRunInput {
  try {
    return { json: plainJson(given ?? {}, 'The input', 'INVALID_INPUT'), error: null }
  } catch (error) {
    return { json: null, error: error as SmithersError }
  }
}

/**
 * Refuses to resume a run with another input than it began with.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertSameInput(given: unknown, known: RunRow | undefined): void {
  if (given === undefined || known === undefined || known.inputJson === null) return
  const json = plainJson(given, 'The input', 'INVALID_INPUT')
  if (sortedJson(json) === sortedJson(known.inputJson)) return
  throw new SmithersError(
    'INVALID_INPUT',
    `Run "${known.runId}" began with another input. Leave input out to resume it, or choose another runId.`,
    { details: { runId: known.runId }, effect: 'none' },
  )
}

/** The same text for equal values, whatever the order of their keys. */
function sortedJson(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

/**
 * The input as parsed by the workflow's schema.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export async function parseInput(workflow: WorkflowDefinition, input: unknown): Promise<unknown> {
  const check = await checkedInput(workflow, input)
  if (check.ok) return check.value
  throw new SmithersError(
    'INVALID_INPUT',
    `The input does not match the workflow's schema: ${check.problem}.`,
    { details: { problem: check.problem }, effect: 'none' },
  )
}

/**
 * {@link parseInput} for the recorded input of a run. If it does not match, the workflow has changed since.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export async function recordedInput(workflow: WorkflowDefinition, run: RunRow): Promise<unknown> {
  const check = await checkedInput(workflow, JSON.parse(run.inputJson ?? '{}'))
  if (check.ok) return check.value
  throw invalidWorkflow(
    `The recorded input of run "${run.runId}" no longer matches the workflow's schema: ${check.problem}. Let the schema accept it, or start a new run.`,
    { problem: check.problem },
  )
}

async function checkedInput(
  { inputSchema }: WorkflowDefinition,
  input: unknown,
): Promise<ValueCheck> {
  return inputSchema === null
    ? { ok: true, value: input, raw: input }
    : checkValue(inputSchema, input)
}

import { type RunRow, SmithersError } from '@smithers/tool-core'
import type { WorkflowDefinition } from '../define/create-smithers.ts'
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

/** Serialises the input of a run; what it cannot say is kept for when the run is there to be blamed. */
export function givenInput(given: unknown): GivenRunInput {
  try {
    return { json: plainJson(given ?? {}, 'The input', 'INVALID_INPUT'), error: null }
  } catch (error) {
    return { json: null, error: error as SmithersError }
  }
}

/**
 * Keeps a known run from going on with another input than it was begun with.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertSameInput(given: unknown, known: RunRow | undefined): void {
  if (given === undefined || known === undefined || known.inputJson === null) return
  const json = plainJson(given, 'The input', 'INVALID_INPUT')
  if (sortedJson(json) === sortedJson(known.inputJson)) return
  throw new SmithersError(
    'INVALID_INPUT',
    `Run "${known.runId}" was begun with another input. Leave input out to resume it, or choose another runId.`,
    { details: { runId: known.runId }, effect: 'none' },
  )
}

/** The text that equal values share, whatever the order of their keys. */
function sortedJson(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

/**
 * The input as the workflow's schema returns it.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export async function parseInput(workflow: WorkflowDefinition, input: unknown): Promise<unknown> {
  const verdict = await checkedInput(workflow, input)
  if (verdict.ok) return verdict.value
  throw new SmithersError(
    'INVALID_INPUT',
    `The input does not match the workflow's schema: ${verdict.problem}.`,
    { details: { problem: verdict.problem }, effect: 'none' },
  )
}

/**
 * {@link parseInput} for what a run was begun with: when it does not match, the workflow has changed since.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export async function recordedInput(workflow: WorkflowDefinition, run: RunRow): Promise<unknown> {
  const verdict = await checkedInput(workflow, JSON.parse(run.inputJson ?? '{}'))
  if (verdict.ok) return verdict.value
  throw invalidWorkflow(
    `The input that run "${run.runId}" was begun with no longer matches the workflow's schema: ${verdict.problem}. Let the schema accept it, or start a new run.`,
    { problem: verdict.problem },
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

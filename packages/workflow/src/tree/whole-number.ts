import { invalidWorkflow } from '../errors/invalid-workflow.ts'

/**
 * The value, if it is a whole number from 1 or infinite.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export function atLeastOne(what: string, value: number): number {
  if ((Number.isInteger(value) && value >= 1) || value === Number.POSITIVE_INFINITY) return value
  throw invalidWorkflow(`${what} must be a whole number from 1, got ${String(value)}.`)
}

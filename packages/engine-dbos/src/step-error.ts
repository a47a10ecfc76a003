import { isSmithersError } from '@smithers/tool-core'

/**
 * An error of a tool, as DBOS records it. DBOS keeps the enumerable fields of an error and loses its class, so the fields
 * say what a recovered workflow must know.
 */
export interface StepError extends Error {
  readonly code?: string
  readonly effect?: string
  /** The workflow must fail, in the process where the call was made and in every later one. */
  readonly endsRun: boolean
}

/** What the step of a call rejects with, made from what the tool threw. */
export function stepError(thrown: unknown, endsRun: boolean): StepError {
  const error = new Error(thrown instanceof Error ? thrown.message : String(thrown))
  error.name = thrown instanceof Error ? thrown.name : 'Error'
  const { code, effect } = isSmithersError(thrown) ? thrown : {}
  return Object.assign(error, { ...(code && { code }), ...(effect && { effect }), endsRun })
}

/** False for errors of DBOS itself. */
export function isStepError(error: unknown): error is StepError {
  return error instanceof Error && typeof (error as { endsRun?: unknown }).endsRun === 'boolean'
}

import { SmithersError } from '@smithers/tool-core'

/** What a job carries. */
export interface JobPayload {
  readonly runId: string
  /** The key with which the job was added. Of several jobs of one run, the newest counts. */
  readonly jobKey: string
}

/** The name under which the jobs of a definition are added, so that a worker takes only what it knows. */
export function taskNameOf(schema: string, queue: string, definition: string): string {
  return `${taskPrefixOf(schema)}${queue}:${definition}`
}

/** What the names of the tasks of one log begin with. */
export function taskPrefixOf(schema: string): string {
  return schema === 'public' ? 'smithers:' : `smithers:${schema}:`
}

/**
 * The first job of a run has its id as its key, each later one a number behind it; in another schema than `public`, the
 * schema comes before. Between them is a mark that no run id contains, so no two runs share a key.
 */
export function keyPrefixOf(schema: string): string {
  return schema === 'public' ? '' : `${keyMark}${schema}${keyMark}`
}

/** A character that is reserved for the inner use of programs. */
export const keyMark: string = '\uFDD0'

/**
 * Refuses a name of a queue or a definition that no task name can hold.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertName(option: string, name: string): void {
  if (typeof name === 'string' && /^[\w.-]{1,40}$/.test(name)) return
  throw new SmithersError(
    'INVALID_INPUT',
    `${option} must be 1 to 40 letters, digits, "_", "-" or ".", got ${JSON.stringify(name)}.`,
  )
}

/**
 * Refuses a run id that cannot be the key of a job.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertRunId(runId: string): void {
  const length = typeof runId === 'string' ? runId.length : 0
  if (length > 0 && length <= longestRunId && /^[^\0\uFDD0]*$/.test(runId) && runId.isWellFormed())
    return
  throw new SmithersError(
    'INVALID_INPUT',
    `runId must be a text of 1 to ${longestRunId} characters without NUL, U+FDD0 and lone surrogates, got ${JSON.stringify(runId)}.`,
  )
}

/** Keys of jobs have 512 at most, the number behind the id included. */
const longestRunId = 400

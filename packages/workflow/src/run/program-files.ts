import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SmithersError } from '@smithers/tool-core'
import type { WorkflowDefinition } from '../define/workflow-definition.ts'

/** The files that make up a workflow: their absolute paths, each with the SHA-256 of its content in hexadecimal. */
export type ProgramFiles = Readonly<Record<string, string>>

/** The program of a workflow: the given files, or the file that defines it. */
export function programOf(
  { file }: WorkflowDefinition,
  given: ProgramFiles | undefined,
): ProgramFiles {
  if (given !== undefined) return given
  if (file === null) return {}
  try {
    return { [file]: createHash('sha256').update(readFileSync(file)).digest('hex') }
  } catch {
    // A bundler or a loader may name a file that does not exist. There is nothing to compare then.
    return {}
  }
}

/**
 * Refuses to resume a run with another program than it began with: the files may have been changed by the run's own
 * tools. A file that only moved is the same.
 *
 * @throws SmithersError `WORKFLOW_CHANGED`
 */
export function assertSameProgram(
  runId: string,
  recorded: ProgramFiles | undefined,
  current: ProgramFiles,
): void {
  const contents = new Set(Object.values(current))
  const changed = Object.entries(recorded ?? {}).flatMap(([path, hash]) =>
    current[path] === hash || (current[path] === undefined && contents.has(hash)) ? [] : [path],
  )
  if (changed.length === 0) return
  throw new SmithersError(
    'WORKFLOW_CHANGED',
    `The workflow of run "${runId}" has changed since the run began: ${changed.join(', ')}. Was it you? Look at the changes. To resume with the changed workflow, set acceptChangedWorkflow: true; otherwise restore the files.`,
    { details: { runId, changed }, effect: 'none' },
  )
}

import type { QueuedRun } from '@smithers/worker'
import { printable } from './printable.ts'

/** The worker of a run, or why none takes it; empty when one will. */
export function workerText(run: QueuedRun): string {
  const { status, worker, hasWorker, definition, lastErrorJson } = run
  // A queued run may still name the worker that it had.
  if (status !== 'queued' && worker !== null) return printable(worker)
  if (!hasWorker) return `no worker for ${printable(definition)}`
  const isChanged = lastErrorJson !== null && codeOf(lastErrorJson) === 'WORKFLOW_CHANGED'
  return isChanged ? `waits for its version of ${printable(definition)}` : ''
}

function codeOf(errorJson: string): unknown {
  return (JSON.parse(errorJson) as { readonly code?: unknown }).code
}

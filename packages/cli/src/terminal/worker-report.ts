import { isSmithersError } from '@smithers/tool-core'
import type { WorkflowEvent } from '@smithers/workflow'
import { describeError } from '../errors/describe-error.ts'
import { shownLog, withoutSecrets } from '../log/log-target.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** Says what a worker does: remarks on stderr, or one JSON document an event on stdout. */
export interface WorkerReport {
  ready(
    name: string,
    takes: {
      readonly queue: string
      readonly schema: string
      readonly definitions: readonly string[]
    },
  ): void
  readonly event: (event: WorkflowEvent) => void
  readonly problem: (message: string) => void
  readonly draining: () => void
  readonly ended: () => void
}

/** Nothing that is said holds a secret of the connection string. */
export function workerReport(
  terminal: Terminal,
  target: string,
  { isJson, name }: { readonly isJson: boolean; readonly name: string | null },
): WorkerReport {
  let worker = name
  const safe = (text: string): string => withoutSecrets(text, target)
  const note = (text: string): void => {
    if (!isJson) terminal.note(`smithers: ${printable(safe(text)).replaceAll('\n', ' ')}`)
  }
  const tell = (event: string, more: object = {}): void => {
    if (isJson) terminal.json({ type: 'worker', event, atMs: Date.now(), worker, ...more })
  }
  return {
    ready(itsName, takes) {
      worker = itsName
      note(`${itsName} takes runs of ${takes.definitions.join(', ')} from ${shownLog(target)}.`)
      tell('ready', { log: shownLog(target), ...takes })
    },
    event(event) {
      if (event.type === 'run-start') {
        const { runId, workflow, resumed } = event
        tell('run-started', { runId, workflow, resumed })
      } else if (event.type === 'run-end') tell('run-finished', { runId: event.runId })
      else if (event.type === 'run-error') {
        const { runId, error } = event
        const code = isSmithersError(error) ? error.code : null
        tell('run-left', { runId, code, message: safe(describeError(error)) })
      }
    },
    problem(message) {
      note(message)
      tell('problem', { message: safe(message) })
    },
    draining() {
      note('drains: stops its runs and puts them back. A second signal ends it at once.')
      tell('draining')
    },
    ended: () => tell('ended'),
  }
}

// One worker process: worker-program.ts '{"connectionString":…,"url":…,"name":…}'. Prints "ready" once it takes runs;
// SIGTERM drains it.
import { flushCompileCache } from 'node:module'
import { serveWorker, type ServeWorkerOptions } from '@smithers/worker'
import { paymentWorkflows } from './payment-workflows.ts'

/** What the program is told. */
export interface WorkerProgramOptions extends Omit<
  ServeWorkerOptions,
  'workflows' | 'signal' | 'onReady' | 'onProblem' | 'run'
> {
  /** The payment server. */
  readonly url: string
  /** The definitions that this worker knows. @default all of them */
  readonly definitions?: readonly string[]
}

const { url, definitions, ...settings } = JSON.parse(process.argv[2] ?? '') as WorkerProgramOptions
const workflows = Object.entries(paymentWorkflows(url))
const drain = new AbortController()
process.once('SIGTERM', () => drain.abort(new Error('Stopped by SIGTERM.')))
await serveWorker({
  ...settings,
  workflows: Object.fromEntries(
    workflows.filter(([name]) => definitions?.includes(name) !== false),
  ),
  signal: drain.signal,
  onReady: () => {
    // Node writes its cache when a process ends, and this one is killed: without it, each start compiles everything again.
    flushCompileCache()
    console.log('ready')
  },
})

import type { OutputReference } from '../tree/output-reference.ts'
import type { FinishedOutputs, OutputSelector } from './finished-outputs.ts'

/** What the function that renders a workflow may read. It must read nothing else that changes. */
export interface WorkflowContext<Input = unknown, Outputs extends object = object> {
  readonly runId: string
  /** The input, as parsed by its schema. */
  readonly input: Input
  /** Outputs of finished tasks, by name. When several tasks share a name, the last to finish. */
  readonly outputs: { readonly [Name in keyof Outputs]?: Outputs[Name] }
  /** Iteration of the innermost loop, from 0. Outside loops 0. */
  readonly iteration: number
  /** The output of one finished task; `undefined` until it has finished. Without a selector, the same as `outputs`. */
  output<Output>(output: OutputReference<Output>, selector?: OutputSelector): Output | undefined
}

/** The context of one render. It notes what is read, so that only outputs that were read cause another render. */
export function createWorkflowContext(options: {
  readonly runId: string
  readonly input: unknown
  readonly iteration: number
  readonly outputNames: readonly string[]
  readonly finished: FinishedOutputs
}): WorkflowContext<never, Record<string, unknown>> {
  const { runId, input, iteration, finished } = options
  const outputs = {}
  for (const name of options.outputNames) {
    Object.defineProperty(outputs, name, { enumerable: true, get: () => finished.read(name) })
  }
  return Object.freeze({
    runId,
    input: input as never,
    iteration,
    outputs: Object.freeze(outputs),
    output: <Output>({ name }: OutputReference<Output>, selector?: OutputSelector) =>
      finished.read(name, selector) as Output | undefined,
  })
}

import type { OutputReference } from '../tree/output-reference.ts'
import type { FinishedOutputs, OutputSelector } from './finished-outputs.ts'

/** What a workflow's function reads. It must read nothing else that changes. */
export interface WorkflowContext<Input = unknown, Outputs extends object = object> {
  readonly runId: string
  /** The input, as its schema returned it. */
  readonly input: Input
  /** What finished tasks made, by the output's name; of several tasks, the one that finished last. */
  readonly outputs: { readonly [Name in keyof Outputs]?: Outputs[Name] }
  /** In a loop, its iteration from 0; in nested loops, that of the inner one. Outside loops 0. */
  readonly iteration: number
  /** What one finished task made; `undefined` while it has not. Without `place`, as `outputs` reads it. */
  output<Output>(output: OutputReference<Output>, place?: OutputSelector): Output | undefined
}

/** The context of one rendering. What it reads is noted, so that only a task that was read causes the next one. */
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
    output: <Output>({ name }: OutputReference<Output>, place?: OutputSelector) =>
      finished.read(name, place) as Output | undefined,
  })
}

import type { ZodType } from 'zod'
import type { WorkflowNode } from '../tree/element.ts'
import type { OutputReference } from '../tree/output-reference.ts'
import type { WorkflowContext } from './workflow-context.ts'

const marker: unique symbol = Symbol.for('smithers.workflow.definition') as never

/** A workflow: what `smithers(…)` returns and `runWorkflow` takes. */
export interface WorkflowDefinition<Input = never, Outputs extends object = object> {
  /** Renders the tree. */
  readonly render: (context: WorkflowContext<never, never>) => WorkflowNode
  readonly inputSchema: ZodType | null
  readonly outputs: ReadonlyMap<string, OutputReference>
  /** The file that defined it; null when it was not defined in a file. */
  readonly file: string | null
  /** Types only. */
  readonly types?: { readonly input: (input: Input) => void; readonly outputs: Outputs }
}

export function defineWorkflow<Input, Outputs extends object>(
  parts: Omit<WorkflowDefinition, 'types'>,
): WorkflowDefinition<Input, Outputs> {
  return Object.freeze({ ...parts, [marker]: true })
}

/** True for a value that `smithers(…)` returned, including one from another copy of this package. */
export function isWorkflow(value: unknown): value is WorkflowDefinition {
  return typeof value === 'object' && value !== null && marker in value
}

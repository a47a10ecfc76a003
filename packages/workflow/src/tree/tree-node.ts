import type { TaskProps } from './components.ts'
import type { OutputReference } from './output-reference.ts'

/** A rendered tree whose components were called and whose properties were checked. */
export interface WorkflowTree {
  readonly name: string
  readonly root: SequenceNode
  /** Every loop by its id. */
  readonly loops: ReadonlyMap<string, LoopNode>
}

/** One node of a {@link WorkflowTree}. */
export type TreeNode = TaskNode | SequenceNode | ParallelNode | LoopNode

export interface TaskNode {
  readonly kind: 'task'
  readonly id: string
  readonly output: OutputReference | null
  readonly retries: number
  readonly timeoutMs: number | null
  readonly repairs: number
  readonly dependsOn: readonly string[]
  readonly agent: NonNullable<TaskProps['agent']> | null
  readonly tools: NonNullable<TaskProps['tools']>
  readonly messages: NonNullable<TaskProps['messages']>
  readonly content: unknown
}

export interface SequenceNode {
  readonly kind: 'sequence'
  readonly children: readonly TreeNode[]
}

export interface ParallelNode {
  readonly kind: 'parallel'
  readonly maxConcurrency: number
  readonly children: readonly TreeNode[]
}

export interface LoopNode {
  readonly kind: 'loop'
  readonly id: string
  readonly until: boolean
  readonly maxIterations: number
  readonly onMaxIterations: 'continue' | 'fail'
  readonly body: SequenceNode
}

/** The outputs that tasks may name, by name. */
export type OutputsByName = ReadonlyMap<string, OutputReference>

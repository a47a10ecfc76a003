import type { LoopNode, TaskNode } from '../tree/tree-node.ts'

/** A node of a plan: a node of the tree with its parent, its progress and its loop iteration. */
export type PlanNode = PlannedTask | PlannedGroup | PlannedLoop

interface Planned {
  readonly parent: PlannedGroup | PlannedLoop | null
  done: boolean
  /** Tasks that wait until this node is done. */
  waiting: PlannedTask[] | null
}

export interface PlannedTask extends Planned {
  readonly kind: 'task'
  readonly task: TaskNode
  /** The task's name in the log: its id, prefixed with the iterations of all enclosing loops but the innermost. */
  readonly nodeId: string
  readonly iteration: number
  /** Of its progress; composed once, since a plan of thousands of tasks asks for it again and again. */
  readonly key: string
  /** It may run as soon as the tasks it depends on have finished and its group has capacity. */
  open: boolean
}

export interface PlannedGroup extends Planned {
  readonly kind: 'sequence' | 'parallel'
  readonly children: PlanNode[]
  /** Infinite for a sequence. */
  readonly maxConcurrency: number
  /** Number of running tasks below a parallel group. */
  running: number
  /** Tasks that wait for capacity of a parallel group. */
  readonly parked: PlannedTask[]
  /** Number of finished children; in a sequence, also the index of the current child. */
  finished: number
}

export interface PlannedLoop extends Planned {
  readonly kind: 'loop'
  readonly loop: LoopNode
  /** The loop as the log records it: its id, after the iterations of the loops around it. */
  readonly loopId: string
  readonly iteration: number
  body: PlannedGroup | null
}

/** The key of a task's progress. */
export function progressKey(nodeId: string, iteration: number): string {
  return `${iteration} ${nodeId}`
}

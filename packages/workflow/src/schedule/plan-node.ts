import type { LoopNode, TaskNode } from '../tree/tree-node.ts'

/** A node of a plan: a node of the tree with its place, its progress and the loop iteration that it belongs to. */
export type PlanNode = PlannedTask | PlannedGroup | PlannedLoop

interface Planned {
  readonly parent: PlannedGroup | PlannedLoop | null
  done: boolean
  /** Tasks that wait until this node is done. */
  readonly waiting: PlannedTask[]
}

export interface PlannedTask extends Planned {
  readonly kind: 'task'
  readonly task: TaskNode
  /** The task in the log: its id, after the iterations of all loops around it but the innermost. */
  readonly nodeId: string
  readonly iteration: number
  /** Its turn has come; it may still wait for other tasks or for a free place. */
  open: boolean
}

export interface PlannedGroup extends Planned {
  readonly kind: 'sequence' | 'parallel'
  readonly children: PlanNode[]
  /** Of a parallel group; a sequence has none of its own. */
  readonly maxConcurrency: number
  /** Tasks that run beneath a parallel group. */
  running: number
  /** Tasks beneath a full parallel group. */
  readonly parked: PlannedTask[]
  /** Children that are done; of a sequence also the index of the current child. */
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

/** The key under which the progress of a task is known. */
export function progressKey(nodeId: string, iteration: number): string {
  return `${iteration} ${nodeId}`
}

import type { LoopNode, TaskNode, TreeNode, WorkflowTree } from '../tree/tree-node.ts'
import {
  type PlannedGroup,
  type PlannedLoop,
  type PlannedTask,
  type PlanNode,
  progressKey,
} from './plan-node.ts'

/** How far a loop has progressed. */
export interface LoopProgress {
  readonly iteration: number
  readonly finished: boolean
}

export interface PlanParts {
  readonly root: PlannedGroup
  /** Every task by its id. A task in a finished loop is absent. */
  readonly tasks: ReadonlyMap<string, PlannedTask>
}

/**
 * Plans a tree. The body of a loop is taken from the tree rendered with that loop's iteration, so `ctx.iteration` means
 * the innermost loop wherever it is written.
 *
 * @param treeOf The tree rendered with a given `ctx.iteration`.
 */
export function buildPlan(
  treeOf: (iteration: number) => WorkflowTree,
  loopProgress: ReadonlyMap<string, LoopProgress>,
): PlanParts {
  const builder = new PlanBuilder(treeOf, loopProgress)
  const root = builder.group('sequence', treeOf(0).root.children, null, {
    inLoop: false,
    iteration: 0,
    prefix: '',
  })
  return { root, tasks: builder.tasks }
}

interface Scope {
  readonly inLoop: boolean
  readonly iteration: number
  /** Distinguishes the inner loop of one outer iteration from that of the next. */
  readonly prefix: string
}

type Parent = PlannedGroup | PlannedLoop

class PlanBuilder {
  readonly tasks = new Map<string, PlannedTask>()
  readonly #treeOf: (iteration: number) => WorkflowTree
  readonly #loopProgress: ReadonlyMap<string, LoopProgress>

  constructor(
    treeOf: (iteration: number) => WorkflowTree,
    loopProgress: ReadonlyMap<string, LoopProgress>,
  ) {
    this.#treeOf = treeOf
    this.#loopProgress = loopProgress
  }

  group(
    kind: PlannedGroup['kind'],
    nodes: readonly TreeNode[],
    parent: Parent | null,
    scope: Scope,
    maxConcurrency = Number.POSITIVE_INFINITY,
  ): PlannedGroup {
    const group: PlannedGroup = {
      kind,
      parent,
      done: false,
      waiting: null,
      children: [],
      maxConcurrency,
      running: 0,
      parked: [],
      finished: 0,
    }
    for (const node of nodes) group.children.push(this.#node(node, group, scope))
    return group
  }

  #node(node: TreeNode, parent: Parent, scope: Scope): PlanNode {
    switch (node.kind) {
      case 'task':
        return this.#task(node, parent, scope)
      case 'loop':
        return this.#loop(node.id, parent, scope)
      case 'parallel':
        return this.group('parallel', node.children, parent, scope, node.maxConcurrency)
      default:
        return this.group('sequence', node.children, parent, scope)
    }
  }

  #task(task: TaskNode, parent: Parent, { prefix, iteration }: Scope): PlannedTask {
    const nodeId = prefix + task.id
    const planned: PlannedTask = {
      kind: 'task',
      parent,
      done: false,
      waiting: null,
      task,
      nodeId,
      iteration,
      key: progressKey(nodeId, iteration),
      open: false,
    }
    this.tasks.set(task.id, planned)
    return planned
  }

  #loop(id: string, parent: Parent, scope: Scope): PlannedLoop {
    const loopId = scope.prefix + (scope.inLoop ? `${id}@${scope.iteration}` : id)
    const progress = this.#loopProgress.get(loopId) ?? { iteration: 0, finished: false }
    const loop = this.#loopNode(id, progress.iteration, scope.iteration)
    const planned: PlannedLoop = {
      kind: 'loop',
      parent,
      done: progress.finished,
      waiting: null,
      loop,
      loopId,
      iteration: progress.iteration,
      body: null,
    }
    if (!progress.finished) {
      const inner: Scope = {
        inLoop: true,
        iteration: progress.iteration,
        prefix: scope.inLoop ? `${scope.prefix}${id}@${scope.iteration}/` : '',
      }
      planned.body = this.group('sequence', loop.body.children, planned, inner)
    }
    return planned
  }

  #loopNode(id: string, iteration: number, outerIteration: number): LoopNode {
    // A loop that is missing from the tree of its own iteration is still finished by the tree that has it.
    const loop = this.#treeOf(iteration).loops.get(id) ?? this.#treeOf(outerIteration).loops.get(id)
    if (loop === undefined) throw new Error(`The loop ${id} is in no tree.`)
    return loop
  }
}

import type { SequenceNode, TreeNode, WorkflowTree } from '../tree/tree-node.ts'
import type { PlannedGroup, PlannedLoop, PlannedTask, PlanNode } from './plan-node.ts'

/** How far a loop has come. */
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
 * Lays out what a tree asks for. The body of a loop is taken from the tree that was rendered with that loop's
 * iteration, which is how `ctx.iteration` means the innermost loop wherever it is written.
 *
 * @param treeOf The tree rendered with a given `ctx.iteration`.
 */
export function buildPlan(
  treeOf: (iteration: number) => WorkflowTree,
  loopProgress: ReadonlyMap<string, LoopProgress>,
): PlanParts {
  const tasks = new Map<string, PlannedTask>()

  function plan(node: TreeNode, parent: PlannedGroup | PlannedLoop, scope: Scope): PlanNode {
    switch (node.kind) {
      case 'task': {
        const task: PlannedTask = {
          kind: 'task',
          parent,
          done: false,
          waiting: [],
          task: node,
          nodeId: scope.prefix + node.id,
          iteration: scope.iteration,
          open: false,
        }
        tasks.set(node.id, task)
        return task
      }
      case 'loop':
        return planLoop(node.id, parent, scope)
      case 'parallel':
        return planGroup('parallel', node.children, parent, scope, node.maxConcurrency)
      default:
        return planGroup('sequence', node.children, parent, scope)
    }
  }

  function planGroup(
    kind: PlannedGroup['kind'],
    nodes: SequenceNode['children'],
    parent: PlannedGroup | PlannedLoop | null,
    scope: Scope,
    maxConcurrency = Number.POSITIVE_INFINITY,
  ): PlannedGroup {
    const group: PlannedGroup = {
      kind,
      parent,
      done: false,
      waiting: [],
      children: [],
      maxConcurrency,
      running: 0,
      parked: [],
      finished: 0,
    }
    for (const node of nodes) group.children.push(plan(node, group, scope))
    return group
  }

  function planLoop(id: string, parent: PlannedGroup | PlannedLoop, scope: Scope): PlannedLoop {
    const loopId = scope.prefix + (scope.inLoop ? `${id}@${scope.iteration}` : id)
    const { iteration, finished } = loopProgress.get(loopId) ?? { iteration: 0, finished: false }
    // A loop that the tree of this iteration lacks is still finished by the tree that has it.
    const loop = treeOf(iteration).loops.get(id) ?? treeOf(scope.iteration).loops.get(id)
    if (loop === undefined) throw new Error(`The loop ${id} is in no tree.`)
    const planned: PlannedLoop = {
      kind: 'loop',
      parent,
      done: finished,
      waiting: [],
      loop,
      loopId,
      iteration,
      body: null,
    }
    if (!finished) {
      const inner: Scope = {
        inLoop: true,
        iteration,
        prefix: scope.inLoop ? `${scope.prefix}${id}@${scope.iteration}/` : '',
      }
      planned.body = planGroup('sequence', loop.body.children, planned, inner)
    }
    return planned
  }

  const root = planGroup('sequence', treeOf(0).root.children, null, {
    inLoop: false,
    iteration: 0,
    prefix: '',
  })
  return { root, tasks }
}

interface Scope {
  readonly inLoop: boolean
  readonly iteration: number
  /** What tells the inner loop of one outer iteration from that of the next. */
  readonly prefix: string
}

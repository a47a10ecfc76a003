import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { PlanParts } from './build-plan.ts'
import { findCyclicWait } from './cyclic-wait.ts'
import {
  type PlannedGroup,
  type PlannedLoop,
  type PlannedTask,
  type PlanNode,
} from './plan-node.ts'
import { waitTarget } from './wait-target.ts'

/** The progress of tasks before a plan begins. */
export interface TaskProgress {
  /** Keys of tasks that have finished. */
  readonly finished: { has(key: string): boolean }
  /** Ids of tasks that have finished in any iteration. */
  readonly finishedIds: { has(id: string): boolean }
  /** Keys of tasks that are running. */
  readonly running: { readonly size: number; has(key: string): boolean }
}

/**
 * Decides which tasks may start. Starting or finishing a task costs work in proportion to what it changes, not to the
 * size of the tree.
 */
export class Plan {
  readonly #root: PlannedGroup
  readonly #tasks: PlanParts['tasks']
  readonly #progress: TaskProgress
  readonly #ready: PlannedTask[] = []
  readonly #completedIterations: PlannedLoop[] = []
  #next = 0

  /** @throws SmithersError `WORKFLOW_INVALID` when tasks wait for each other in a circle. */
  constructor({ root, tasks }: PlanParts, progress: TaskProgress) {
    this.#root = root
    this.#tasks = tasks
    this.#progress = progress
    const cycle = findCyclicWait(root, tasks)
    if (cycle !== null) {
      throw invalidWorkflow(
        `Tasks wait for each other: ${cycle.map((id) => `"${id}"`).join(' waits for ')}. Remove one dependsOn, or change the order.`,
        { cycle },
      )
    }
    if (progress.running.size > 0) {
      for (const task of tasks.values()) if (progress.running.has(task.key)) occupy(task)
    }
    this.#open(root)
  }

  get done(): boolean {
    return this.#root.done
  }

  /** The next task that may start now. It counts as running from here on. */
  takeReady(): PlannedTask | null {
    while (this.#next < this.#ready.length) {
      const task = this.#ready[this.#next] as PlannedTask
      this.#next += 1
      const full = fullGroupAbove(task)
      if (full === null) {
        occupy(task)
        return task
      }
      full.parked.push(task)
    }
    this.#ready.length = 0
    this.#next = 0
    return null
  }

  /** The next loop whose body has finished and that must be continued or finished. */
  takeCompletedIteration(): PlannedLoop | null {
    return this.#completedIterations.shift() ?? null
  }

  finishLoop(loop: PlannedLoop): void {
    this.#complete(loop)
  }

  /** @param key The key of the finished task: in this plan's tree, its id may belong to another iteration. */
  finishTask(id: string, key: string): void {
    const task = this.#tasks.get(id)
    if (task === undefined || task.done || task.key !== key) return
    for (let node = task.parent; node !== null; node = node.parent) {
      if (node.kind !== 'parallel') continue
      node.running -= 1
      this.#ready.push(...node.parked.splice(0, 1))
    }
    this.#complete(task)
  }

  /** Tasks that could start but wait for a task that the tree does not contain. */
  strandedTasks(): { readonly id: string; readonly missing: string }[] {
    return [...this.#tasks.values()].flatMap(({ task, open, done }) => {
      const missing = task.dependsOn.find(
        (id) => !this.#tasks.has(id) && !this.#progress.finishedIds.has(id),
      )
      return open && !done && missing !== undefined ? [{ id: task.id, missing }] : []
    })
  }

  /** Opens a node; true when it is already done. */
  #open(node: PlanNode): boolean {
    switch (node.kind) {
      case 'task':
        return this.#openTask(node)
      case 'sequence':
        return this.#continueSequence(node)
      case 'parallel':
        for (const child of node.children) if (this.#open(child)) node.finished += 1
        return this.#settle(node, node.finished === node.children.length)
      default:
        if (node.body !== null && this.#open(node.body)) this.#completedIterations.push(node)
        return node.done
    }
  }

  #openTask(planned: PlannedTask): boolean {
    const { key } = planned
    if (this.#progress.finished.has(key)) return this.#settle(planned, true)
    planned.open = true
    if (!this.#progress.running.has(key)) this.#queueUnlessWaiting(planned)
    return false
  }

  #queueUnlessWaiting(planned: PlannedTask): void {
    for (const id of planned.task.dependsOn) {
      const awaited = this.#tasks.get(id)
      // Absent and finished: it belongs to a finished loop, or the tree no longer contains it.
      if (awaited === undefined && this.#progress.finishedIds.has(id)) continue
      if (awaited === undefined) return
      const target = waitTarget(planned, awaited)
      if (target.done) continue
      target.waiting ??= []
      target.waiting.push(planned)
      return
    }
    this.#ready.push(planned)
  }

  #continueSequence(group: PlannedGroup): boolean {
    while (group.finished < group.children.length) {
      if (!this.#open(group.children[group.finished] as PlanNode)) return false
      group.finished += 1
    }
    return this.#settle(group, true)
  }

  /** Marks a node done and opens the nodes that waited for it, upwards. */
  #complete(node: PlanNode): void {
    this.#settle(node, true)
    const { parent } = node
    if (parent === null) return
    if (parent.kind === 'loop') {
      this.#completedIterations.push(parent)
      return
    }
    parent.finished += 1
    if (parent.kind === 'sequence') {
      if (this.#continueSequence(parent)) this.#complete(parent)
    } else if (parent.finished === parent.children.length) {
      this.#complete(parent)
    }
  }

  #settle(node: PlanNode, done: boolean): boolean {
    if (!done) return false
    node.done = true
    const { waiting: waitingTasks } = node
    node.waiting = null
    for (const waiting of waitingTasks ?? []) {
      if (waiting.open && !waiting.done) this.#queueUnlessWaiting(waiting)
    }
    return true
  }
}

/** The nearest parallel group around a task that is at its limit. */
function fullGroupAbove(task: PlannedTask): PlannedGroup | null {
  for (let node = task.parent; node !== null; node = node.parent) {
    if (node.kind === 'parallel' && node.running >= node.maxConcurrency) return node
  }
  return null
}

function occupy(task: PlannedTask): void {
  for (let node = task.parent; node !== null; node = node.parent) {
    if (node.kind === 'parallel') node.running += 1
  }
}

import type { PlannedGroup, PlannedTask, PlanNode } from './plan-node.ts'
import { waitTarget } from './wait-target.ts'

/**
 * Finds tasks that wait for each other, through `dependsOn` or their order in a sequence. Returns the ids of one cycle,
 * the first repeated at the end; null when there is none.
 */
export function findCyclicWait(
  root: PlannedGroup,
  tasks: ReadonlyMap<string, PlannedTask>,
): string[] | null {
  if (!someDepends(tasks)) return null
  const graph = new WaitGraph(tasks)
  graph.add(root, null)
  return graph.cycle()
}

function someDepends(tasks: ReadonlyMap<string, PlannedTask>): boolean {
  for (const { task } of tasks.values()) if (task.dependsOn.length > 0) return true
  return false
}

/** The start or the end of a node. */
interface Moment {
  readonly node: PlanNode
  readonly after: Moment[]
  readonly before: Moment[]
}

/** The order that the tree imposes on starts and ends. */
class WaitGraph {
  readonly #tasks: ReadonlyMap<string, PlannedTask>
  readonly #begins = new Map<PlanNode, Moment>()
  readonly #ends = new Map<PlanNode, Moment>()

  constructor(tasks: ReadonlyMap<string, PlannedTask>) {
    this.#tasks = tasks
  }

  /** @param previous The moment that must precede the start of the node. */
  add(node: PlanNode, previous: Moment | null): void {
    const begin = this.#moment(this.#begins, node)
    const end = this.#moment(this.#ends, node)
    if (previous !== null) follows(begin, previous)
    follows(end, begin)
    if (node.kind === 'task') {
      for (const id of node.task.dependsOn) {
        const awaited = this.#tasks.get(id)
        if (awaited !== undefined) {
          follows(begin, this.#moment(this.#ends, waitTarget(node, awaited)))
        }
      }
      return
    }
    const children = node.kind === 'loop' ? (node.body === null ? [] : [node.body]) : node.children
    let before = begin
    for (const child of children) {
      this.add(child, before)
      const childEnd = this.#moment(this.#ends, child)
      follows(end, childEnd)
      if (node.kind === 'sequence') before = childEnd
    }
  }

  /** Removes every moment that can happen; what remains forms cycles. */
  cycle(): string[] | null {
    const open = new Map<Moment, number>()
    for (const moment of [...this.#begins.values(), ...this.#ends.values()]) {
      open.set(moment, moment.after.length)
    }
    const free = [...open].filter(([, count]) => count === 0).map(([moment]) => moment)
    for (let moment = free.pop(); moment !== undefined; moment = free.pop()) {
      open.delete(moment)
      for (const next of moment.before) {
        const count = (open.get(next) ?? 0) - 1
        open.set(next, count)
        if (count === 0) free.push(next)
      }
    }
    const [start] = open.keys()
    return start === undefined ? null : idsOfCycle(walkBack(start, open))
  }

  #moment(moments: Map<PlanNode, Moment>, node: PlanNode): Moment {
    let moment = moments.get(node)
    if (moment === undefined) {
      moment = { node, after: [], before: [] }
      moments.set(node, moment)
    }
    return moment
  }
}

function follows(later: Moment, earlier: Moment): void {
  later.after.push(earlier)
  earlier.before.push(later)
}

/** Every remaining moment follows another one, so walking back must reach one twice. */
function walkBack(start: Moment, remaining: ReadonlyMap<Moment, number>): Moment[] {
  const path: Moment[] = []
  let moment = start
  while (!path.includes(moment)) {
    path.push(moment)
    moment = moment.after.find((earlier) => remaining.has(earlier)) as Moment
  }
  return [...path.slice(path.indexOf(moment)), moment]
}

function idsOfCycle(cycle: readonly Moment[]): string[] {
  const ids: string[] = []
  for (const { node } of cycle) {
    if (node.kind === 'task' && ids.at(-1) !== node.task.id) ids.push(node.task.id)
  }
  if (ids.length === 1 || ids[0] !== ids.at(-1)) ids.push(ids[0] as string)
  return ids
}

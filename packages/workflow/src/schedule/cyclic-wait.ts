import type { PlannedGroup, PlannedTask, PlanNode } from './plan-node.ts'
import { waitTarget } from './wait-target.ts'

/**
 * Finds tasks that wait for each other, through `dependsOn` or through their order in a sequence; null when every task
 * can have its turn. Answers with the ids of one circle, the first again at the end.
 */
export function findCyclicWait(
  root: PlannedGroup,
  tasks: ReadonlyMap<string, PlannedTask>,
): string[] | null {
  if (![...tasks.values()].some(({ task }) => task.dependsOn.length > 0)) return null
  const graph = new WaitGraph(tasks)
  graph.add(root, null)
  return graph.circle()
}

/** A moment in the life of a node: its begin or its end. */
interface Moment {
  readonly node: PlanNode
  readonly after: Moment[]
  readonly before: Moment[]
}

/** Which moment cannot come before which. */
class WaitGraph {
  readonly #tasks: ReadonlyMap<string, PlannedTask>
  readonly #begins = new Map<PlanNode, Moment>()
  readonly #ends = new Map<PlanNode, Moment>()

  constructor(tasks: ReadonlyMap<string, PlannedTask>) {
    this.#tasks = tasks
  }

  /** @param previous The moment that must have come before the node begins. */
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

  /** Takes away every moment that can come; what remains goes round in circles. */
  circle(): string[] | null {
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
    return start === undefined ? null : idsOfCircle(walkBack(start, open))
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

/** Every remaining moment follows another remaining one, so going back must meet one twice. */
function walkBack(start: Moment, remaining: ReadonlyMap<Moment, number>): Moment[] {
  const path: Moment[] = []
  let moment = start
  while (!path.includes(moment)) {
    path.push(moment)
    moment = moment.after.find((earlier) => remaining.has(earlier)) as Moment
  }
  return [...path.slice(path.indexOf(moment)), moment]
}

function idsOfCircle(circle: readonly Moment[]): string[] {
  const ids: string[] = []
  for (const { node } of circle) {
    if (node.kind === 'task' && ids.at(-1) !== node.task.id) ids.push(node.task.id)
  }
  if (ids.length === 1 || ids[0] !== ids.at(-1)) ids.push(ids[0] as string)
  return ids
}

import type { PlannedTask, PlanNode } from './plan-node.ts'

/**
 * What `dependsOn` waits for: the task itself, or the outermost loop that encloses it but not the waiting task. A task in
 * a loop has finished only when the loop has.
 */
export function waitTarget(waiting: PlannedTask, awaited: PlannedTask): PlanNode {
  const around = new Set<PlanNode>()
  for (let node = waiting.parent; node !== null; node = node.parent) around.add(node)
  let target: PlanNode = awaited
  for (let node = awaited.parent; node !== null && !around.has(node); node = node.parent) {
    if (node.kind === 'loop') target = node
  }
  return target
}

import type { CallGroup } from '../../api/calls.ts'

/** A line of the timeline: the head of an attempt, a call, or why the attempt ended. */
export type TimelineItem =
  | {
      readonly kind: 'head'
      readonly group: CallGroup
      /** The group before belongs to another task or iteration. */
      readonly newTask: boolean
    }
  | { readonly kind: 'call'; readonly group: CallGroup; readonly position: number }
  | { readonly kind: 'end'; readonly group: CallGroup }

/** The lines of a run, from its groups alone: the calls themselves may come later. */
export function timelineItems(groups: readonly CallGroup[]): TimelineItem[] {
  const items: TimelineItem[] = []
  for (const [index, group] of groups.entries()) {
    const before = groups[index - 1]
    const newTask = before?.nodeId !== group.nodeId || before.iteration !== group.iteration
    items.push({ kind: 'head', group, newTask })
    for (let at = 0; at < group.count; at += 1) {
      items.push({ kind: 'call', group, position: group.first + at })
    }
    if (hasEnd(group, groups[index + 1])) items.push({ kind: 'end', group })
  }
  return items
}

/** A finished attempt says so in its head, and one of which nothing more is known says nothing, unless another followed. */
function hasEnd({ end, nodeId, iteration }: CallGroup, next: CallGroup | undefined): boolean {
  if (end.kind === 'finished' || end.kind === 'running') return false
  if (end.kind !== 'unrecorded') return true
  return next?.nodeId === nodeId && next.iteration === iteration
}

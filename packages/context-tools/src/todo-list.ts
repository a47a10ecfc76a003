import type { RunStateStore } from '@smithers/tool-core'
import { SmithersError } from '@smithers/tool-core'

/** One item of a plan. */
export interface TodoItem {
  readonly id: string
  readonly title: string
  readonly status: TodoStatus
  readonly notes?: string | undefined
}

export type TodoStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled'

/** A plan, and its version: 0 when there is none yet. */
export interface TodoList {
  readonly version: number
  readonly items: readonly TodoItem[]
}

/** A plan in the state of its run. */
export interface StoredPlan {
  readonly store: RunStateStore
  readonly runId: string
  readonly key: string
}

/** Returns the current plan. */
export async function readPlan({ store, runId, key }: StoredPlan): Promise<TodoList> {
  const entry = await store.get(runId, key)
  if (entry === undefined) return { version: 0, items: [] }
  return { version: entry.version, items: JSON.parse(entry.valueJson) as TodoItem[] }
}

/**
 * Changes a plan in one step: of many writers that expect the same version one wins. Without an expected version a
 * change is made to the plan as it is by then.
 *
 * @throws SmithersError `TOOL_STATE_CONFLICT` when the plan has another version, or always another writer is faster; the
 *   plan is unchanged.
 */
export async function changePlan(
  plan: StoredPlan,
  expectedVersion: number | undefined,
  change: (items: readonly TodoItem[]) => readonly TodoItem[],
): Promise<TodoList> {
  const { store, runId, key } = plan
  for (let tries = 0; tries < mostTries; tries += 1) {
    const current = await readPlan(plan)
    if (expectedVersion !== undefined && expectedVersion !== current.version) {
      throw new SmithersError(
        'TOOL_STATE_CONFLICT',
        `The plan was not changed: it has version ${current.version}, and expectedVersion is ${expectedVersion}. Read it, and apply your change to what it is now.`,
        { details: { version: current.version, expectedVersion }, effect: 'none' },
      )
    }
    const items = change(current.items)
    const version = current.version + 1
    const valueJson = JSON.stringify(items)
    const stored = await store.set({ runId, key, version, valueJson, updatedAtMs: Date.now() })
    if (stored) return { version, items }
    // Another writer was faster: look again.
  }
  throw new SmithersError(
    'TOOL_STATE_CONFLICT',
    `The plan was not changed: ${mostTries} times in a row another writer was faster. Read it, and try again.`,
    { details: { tries: mostTries }, effect: 'none' },
  )
}

// One writer wins each time, so this is more than there can be at once; a store that never stores would be asked forever.
const mostTries = 1000

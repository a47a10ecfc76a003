import { type DefinedTool, defineTool, SmithersError, type ToolContext } from '@smithers/tool-core'
import { z } from 'zod'
import { runStateOf } from './run-state-of.ts'
import {
  changePlan,
  readPlan,
  type StoredPlan,
  type TodoItem,
  type TodoList,
  type TodoStatus,
} from './todo-list.ts'

/** Options of {@link createManageTodoList}. */
export interface ManageTodoListOptions {
  /** Who shares the plan: all tasks of the run, or one task alone. @default 'run' */
  readonly scope?: 'run' | 'task'
  /** Most items of a plan. @default 200 */
  readonly maxItems?: number
}

/** An item as an agent gives it: `write` needs the title, `update` only what changes. */
export interface TodoPatch {
  readonly id: string
  readonly title?: string | undefined
  readonly status?: TodoStatus | undefined
  readonly notes?: string | undefined
}

/** What an agent gives `manage_todo_list`. */
export interface ManageTodoListInput {
  readonly operation: 'write' | 'update' | 'read'
  /** For `write` and `update`. */
  readonly items?: TodoPatch[] | undefined
  readonly expectedVersion?: number | undefined
}

const item = z.object({
  id: z.string().min(1).max(100),
  title: z.string().min(1).max(1000).optional().describe('Required by write and for new items.'),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']).optional(),
  notes: z.string().max(5000).optional(),
})

/**
 * Makes the planning tool: `write` replaces the plan, `update` patches items by id, `read`
 * returns it with its version. The plan is in the state of the run, so it outlives the process with a durable log.
 */
export function createManageTodoList(
  options: ManageTodoListOptions = {},
): DefinedTool<ManageTodoListInput, TodoList, 'manage_todo_list'> {
  const { scope = 'run', maxItems = 200 } = options
  return defineTool({
    name: 'manage_todo_list',
    description:
      'Keep the plan of your work. write replaces the whole plan, update changes items by id, read returns the plan and its version. Give expectedVersion, the version you last saw, so that you do not overwrite a newer plan.',
    schema: z.object({
      operation: z.enum(['write', 'update', 'read']),
      items: z.array(item).max(maxItems).optional().describe('For write and update.'),
      expectedVersion: z.int().min(0).optional().describe('0 before the first plan.'),
    }),
    // It changes the run's own state, which a retry continues with, so a retry needs no warning.
    archivesOutput: false,
    execute: async ({ operation, items, expectedVersion }, ctx) => {
      const plan = planOf(ctx, scope)
      if (operation === 'read') return readPlan(plan)
      if (items === undefined) throw invalid(`${operation} needs items.`)
      const ids = new Set(items.map(({ id }) => id))
      if (ids.size < items.length) throw invalid('Two items have the same id.')
      return changePlan(plan, expectedVersion, (current) =>
        operation === 'write' ? items.map(complete) : patched(current, items),
      )
    },
  })
}

type GivenItem = z.output<typeof item>

function planOf(ctx: ToolContext, scope: 'run' | 'task'): StoredPlan {
  const { runId, nodeId, iteration } = ctx
  const key = scope === 'run' ? 'todo-list' : `todo-list:${JSON.stringify([nodeId, iteration])}`
  return { store: runStateOf(ctx), runId, key }
}

function complete({ id, title, status = 'pending', notes }: GivenItem): TodoItem {
  if (title === undefined) throw invalid(`Item "${id}" needs a title.`)
  return { id, title, status, ...(notes === undefined ? {} : { notes }) }
}

function patched(current: readonly TodoItem[], patches: readonly GivenItem[]): TodoItem[] {
  const byId = new Map(current.map((each) => [each.id, each]))
  const unknown = patches.filter(({ id }) => !byId.has(id)).map(({ id }) => `"${id}"`)
  if (unknown.length > 0) {
    throw invalid(
      `update changes existing items, and there is none with the id ${unknown.join(', ')}. The plan has ${current.map(({ id }) => `"${id}"`).join(', ') || 'no items'}. Use write to add items.`,
    )
  }
  for (const patch of patches) {
    const changes = Object.entries(patch).filter(([, value]) => value !== undefined)
    byId.set(patch.id, { ...byId.get(patch.id), ...Object.fromEntries(changes) } as TodoItem)
  }
  return [...byId.values()]
}

function invalid(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', `The plan was not changed. ${message}`, {
    effect: 'none',
  })
}

import {
  createManageTodoList,
  type ManageTodoListInput,
  type TodoList,
} from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, type ToolCallLog } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'

function planner(
  log: ToolCallLog,
  place: { runId?: string; nodeId?: string; attempt?: number } = {},
  scope?: 'task',
) {
  const run = createToolRun({ runId: 'r', ...place, log })
  const { manage } = run.tools({
    manage: createManageTodoList(scope === undefined ? {} : { scope }),
  })
  return (input: ManageTodoListInput): Promise<TodoList> =>
    manage.execute(input, { toolCallId: 'call', messages: [] })
}

const one = { id: '1', title: 'Read the code' }
const two = { id: '2', title: 'Fix it' }

describe('manage_todo_list', () => {
  it('writes, patches by id and reads the plan with its version', async () => {
    const plan = planner(createMemoryLog())
    expect(await plan({ operation: 'read' })).toEqual({ version: 0, items: [] })
    await plan({ operation: 'write', items: [one, two], expectedVersion: 0 })
    const patched = await plan({
      operation: 'update',
      items: [{ id: '2', status: 'completed', notes: 'done' }],
    })
    const expected = {
      version: 2,
      items: [
        { ...one, status: 'pending' },
        { ...two, status: 'completed', notes: 'done' },
      ],
    }
    expect(patched).toEqual(expected)
    expect(await plan({ operation: 'read' })).toEqual(expected)
  })

  it('refuses a stale expectedVersion and leaves the plan unchanged', async () => {
    const plan = planner(createMemoryLog())
    await plan({ operation: 'write', items: [one] })
    await plan({ operation: 'write', items: [one, two] })
    const before = await plan({ operation: 'read' })
    for (const operation of ['write', 'update'] as const) {
      await expect(
        plan({ operation, items: [{ ...one, title: 'Stale' }], expectedVersion: 1 }),
      ).rejects.toMatchObject({ code: 'TOOL_STATE_CONFLICT', details: { version: 2 } })
    }
    expect(await plan({ operation: 'read' })).toEqual(before)
  })

  it('lets one of many parallel writers with the same version win, and loses no change without one', async () => {
    const plan = planner(createMemoryLog())
    const writes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        plan({ operation: 'write', items: [{ id: String(n), title: 'x' }], expectedVersion: 0 }),
      ),
    )
    expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const items = Array.from({ length: 10 }, (_, n) => ({ id: String(n), title: 'x' }))
    await plan({ operation: 'write', items })
    await Promise.all(
      items.map(({ id }) => plan({ operation: 'update', items: [{ id, status: 'completed' }] })),
    )
    const { items: after, version } = await plan({ operation: 'read' })
    expect(after.every(({ status }) => status === 'completed')).toBe(true)
    expect(version).toBe(12)
  })

  it.each([
    [
      'an unknown id',
      { operation: 'update', items: [{ id: '9', status: 'completed' }] },
      /none with the id "9"/,
    ],
    ['an item without a title', { operation: 'write', items: [{ id: '9' }] }, /needs a title/],
    ['no items', { operation: 'write' }, /needs items/],
    ['an id twice', { operation: 'write', items: [one, one] }, /same id/],
  ] as const)('refuses %s and leaves the plan unchanged', async (_what, input, message) => {
    const plan = planner(createMemoryLog())
    await plan({ operation: 'write', items: [one] })
    await expect(plan(input as unknown as ManageTodoListInput)).rejects.toThrow(message)
    expect(await plan({ operation: 'read' })).toMatchObject({ version: 1 })
  })

  it('is shared by the tasks of a run, by no other run, and by no task when told so', async () => {
    const log = createMemoryLog()
    await planner(log)({ operation: 'write', items: [one] })
    expect(await planner(log, { nodeId: 'b', attempt: 2 })({ operation: 'read' })).toMatchObject({
      version: 1,
    })
    expect(await planner(log, { runId: 'other' })({ operation: 'read' })).toMatchObject({
      version: 0,
    })
    await planner(log, { nodeId: 'a' }, 'task')({ operation: 'write', items: [two] })
    expect(
      await planner(log, { nodeId: 'b', attempt: 2 }, 'task')({ operation: 'read' }),
    ).toMatchObject({
      version: 0,
    })
  })

  it('gives up on a log that never stores a change, and says so', async () => {
    const log = createMemoryLog()
    const { state } = log
    if (state === undefined) throw new Error('The memory log keeps state.')
    const plan = planner({ ...log, state: { ...state, set: () => false } })
    await expect(plan({ operation: 'write', items: [one] })).rejects.toMatchObject({
      code: 'TOOL_STATE_CONFLICT',
    })
  })

  it('says so when the log keeps no state', async () => {
    const { state: _none, ...log } = createMemoryLog()
    await expect(planner(log)({ operation: 'read' })).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
    })
  })
})

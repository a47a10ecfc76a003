import { createSqliteLog } from '@smithers/log-sqlite'
import {
  createToolRun,
  defineTool,
  disownError,
  pendingApprovals,
  SmithersError,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createSmithers, runTask, runWorkflow } from '@smithers/workflow'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

/** The effect that the log has of a tool which pays and then does something that fails. */
async function effectAfter(fail: () => unknown): Promise<unknown> {
  const log = createMemoryLog()
  const pay = defineTool({
    name: 'pay',
    schema: z.object({}),
    sideEffect: true,
    acceptsContext: true,
    execute: async () => {
      await fail()
    },
  })
  const call = createToolRun({ runId: 'outer', log })
    .tools({ pay })
    .pay.execute({}, { toolCallId: 'c', messages: [] })
  await expect(call).rejects.toMatchObject({ effect: 'none' })
  return log.list({ toolName: 'pay' })[0]?.effect
}

/** Two runs of one task or workflow at once: the second is refused with an error that says "no effect". */
async function busyTask(): Promise<void> {
  const log = createMemoryLog()
  const agent = (): ReturnType<typeof scriptedAgent>['agent'] => scriptedAgent({}, ['done']).agent
  const task = { prompt: 'Go.', runId: 'inner', log }
  await Promise.all([runTask({ ...task, agent: agent() }), runTask({ ...task, agent: agent() })])
}

const { smithers, Workflow } = createSmithers({})
const workflow = smithers(() => Workflow({ name: 'empty', children: [] }))

describe('an error that says "no effect" of work inside a tool that has paid', () => {
  test.each([
    ['a task that runs elsewhere', busyTask],
    [
      'options of a task that are wrong',
      () => runTask({ prompt: 'Go.', agent: scriptedAgent({}, []).agent, allow: 'all' as never }),
    ],
    [
      'an option that runWorkflow does not have',
      () => runWorkflow(workflow, { extra: 1 } as never),
    ],
    [
      'a log that keeps no approvals',
      () => pendingApprovals({ log: { ...createMemoryLog(), capabilities: noCapabilities } }),
    ],
  ])('is not believed of the tool: %s', async (_, fail) => {
    expect(await effectAfter(fail)).toBe('unknown')
  })

  test('is not believed of a library that disowns it', async () => {
    const effect = await effectAfter(() => {
      throw disownError(new SmithersError('TOOL_FAILED', 'no', { effect: 'none' }))
    })
    expect(effect).toBe('unknown')
  })

  test('is not believed of a log that is closed', async () => {
    const log = createSqliteLog({ path: ':memory:' })
    await log.close()
    const failed = await Promise.resolve()
      .then(() => log.list({}))
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
    expect((failed as SmithersError).effect).toBeUndefined()
  })

  test('is believed when the tool makes it itself', async () => {
    const effect = await effectAfter(() => {
      throw new SmithersError('INVALID_INPUT', 'no', { effect: 'none' })
    })
    expect(effect).toBe('none')
  })
})

const noCapabilities = { durable: false, multiProcess: false, claims: false }

import { createMemoryLog } from '@smithers/log-memory'
import { defineTool, pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

describe('runWorkflow', () => {
  test('pauses for an approval, lets parallel tasks finish, and continues when it is resumed', async () => {
    const log = createMemoryLog()
    const effects: string[] = []
    const send = defineTool({
      name: 'send',
      schema: z.object({ to: z.string() }),
      sideEffect: true,
      needsApproval: true,
      acceptsContext: true,
      execute: ({ to }) => {
        effects.push(`send ${to}`)
        return 'sent'
      },
    })
    const text = z.object({ text: z.string() })
    const { Workflow, Task, Parallel, smithers, outputs } = createSmithers({
      mail: text,
      notes: text,
    })
    const workflow = smithers(() => {
      const { agent } = scriptedAgent({ send }, [
        { tool: 'send', input: { to: 'mia' } },
        '{"text":"mailed"}',
      ])
      return (
        <Workflow name="letters">
          <Parallel>
            <Task id="mail" output={outputs.mail} agent={agent}>
              Send it.
            </Task>
            <Task id="notes" output={outputs.notes}>
              {async () => {
                // Ends after its neighbour has paused.
                await vi.waitFor(
                  async () => expect(await pendingApprovals({ log })).toHaveLength(1),
                  { timeout: 60_000 },
                )
                effects.push('notes')
                return { text: 'noted' }
              }}
            </Task>
          </Parallel>
        </Workflow>
      )
    })
    await expect(runWorkflow(workflow, { runId: 'r', log })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      details: { runId: 'r' },
    })
    expect(effects).toEqual(['notes'])
    expect((await log.runs.list({ runId: 'r' }))[0]?.status).toBe('waiting')

    const [approval] = await pendingApprovals({ log, runId: 'r' })
    await resolveToolApproval({ log, id: approval?.id ?? '', approved: true })
    await runWorkflow(workflow, { runId: 'r', log })
    expect(effects).toEqual(['notes', 'send mia'])
    expect((await log.runs.list({ runId: 'r' }))[0]?.status).toBe('finished')
  })

  test('makes no call that the agent asks for after one that waits, however fast its model answers', async () => {
    const effects: string[] = []
    const toolOf = (name: string, needsApproval: boolean) =>
      defineTool({
        name,
        schema: z.object({}),
        sideEffect: true,
        needsApproval,
        acceptsContext: true,
        execute: () => void effects.push(name),
      })
    const { agent, prompts } = scriptedAgent(
      { send: toolOf('send', true), remove: toolOf('remove', false) },
      [{ tool: 'send', input: {} }, { tool: 'remove', input: {} }, 'done'],
    )
    const { Workflow, Task, smithers } = createSmithers({})
    const workflow = smithers(() => (
      <Workflow name="mail">
        <Task id="mail" agent={agent}>
          Send it, then remove it.
        </Task>
      </Workflow>
    ))
    await expect(runWorkflow(workflow, { log: createMemoryLog() })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect([effects, prompts.length]).toEqual([[], 1])
  })
})

import { generateText } from 'ai'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { scriptedModel } from '../fixtures/scripted-model.ts'

// A failing check that is not awaited ends the process: Vitest then reports an unhandled rejection and fails the file.
function checkedTool(check: (name: string) => boolean | Promise<boolean>) {
  const state = { checks: 0, executions: 0 }
  const field = z.string().refine((name) => {
    state.checks += 1
    return check(name)
  }, 'is unknown')
  const tool = defineTool({
    name: 'tool',
    schema: z.object({ field }),
    execute: () => {
      state.executions += 1
      return 'ok'
    },
  })
  return { state, tool }
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function failing(): Promise<boolean> {
  await later()
  throw new Error('the directory is down')
}

const call = { toolCallId: 'c', messages: [] }

describe('a schema whose check waits', () => {
  it('refuses the call when the check fails, and runs once', async () => {
    const { state, tool } = checkedTool(failing)
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    await expect(run.tools({ tool }).tool.execute({ field: 'a' }, call)).rejects.toThrow(
      'directory is down',
    )
    await later()
    expect(state).toEqual({ checks: 1, executions: 0 })
    expect(log.list({})).toMatchObject([{ status: 'error', effect: 'none' }])
  })

  it('names what is wrong, as for a check that does not wait', async () => {
    for (const check of [async () => false, () => false]) {
      const { state, tool } = checkedTool(check)
      await expect(tool.execute({ field: 'a' }, call)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: { issues: [{ path: 'field', message: 'is unknown' }] },
      })
      expect(state).toEqual({ checks: 1, executions: 0 })
    }
  })

  it('runs once for a call of the AI SDK, which parses the input before the tool does', async () => {
    for (const check of [async () => true, () => true]) {
      const { state, tool } = checkedTool(check)
      const model = scriptedModel([[{ id: 'c', tool: 'tool', input: { field: 'a' } }]])
      await generateText({ model, prompt: 'go', tools: createToolRun().tools({ tool }) })
      expect(state).toEqual({ checks: 1, executions: 1 })
    }
  })

  it('refuses arguments of an approver when the check fails', async () => {
    const { state, tool } = checkedTool(async (name) => (name === 'a' ? true : failing()))
    const gated = defineTool({
      name: 'gated',
      schema: tool.inputSchema,
      needsApproval: true,
      execute: () => 'ran',
    })
    const problems: unknown[] = []
    const run = createToolRun({
      runId: 'r',
      log: createMemoryLog(),
      onApproval: ({ problem }) => {
        problems.push(problem)
        return problem === undefined ? { approved: true, approvedArgs: { field: 'b' } } : undefined
      },
    })
    await expect(run.tools({ gated }).gated.execute({ field: 'a' }, call)).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    await later()
    expect(problems[1]).toContain('the directory is down')
    expect(state.checks).toBe(2)
  })
})

describe('a schema whose check does not wait', () => {
  it('lets the start row be stored in the turn of the call', async () => {
    const { tool } = checkedTool(() => true)
    const log = createMemoryLog()
    const pending = createToolRun({ runId: 'r', log })
      .tools({ tool })
      .tool.execute({ field: 'a' }, call)
    expect(log.list({})).toHaveLength(1)
    await pending
  })
})

import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog, defaultLogPath } from '@smithers/log-sqlite'
import { defineTool, pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { createSmithers, runTask, runWorkflow, Task } from '@smithers/workflow'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, smithers } = createSmithers({})
const call = { toolCallId: 'call-1', messages: [] }

let stateHome: string
beforeEach(() => {
  stateHome = mkdtempSync(join(realpathSync(tmpdir()), 'smithers-default-log-'))
  vi.stubEnv('XDG_STATE_HOME', stateHome)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(stateHome, { recursive: true })
})

/** The rows of the project's log, as another program reads them. */
async function rowsOf(runId: string): Promise<readonly ToolCallRow[]> {
  const log = createSqliteLog({ path: defaultLogPath(import.meta.dirname) })
  const rows = await log.list({ runId })
  await log.close()
  return rows
}

function counter(): { readonly calls: number; readonly tool: ReturnType<typeof addTool> } {
  const state = { calls: 0 }
  return {
    get calls() {
      return state.calls
    },
    tool: addTool(() => (state.calls += 1)),
  }
}

function addTool(execute: () => number) {
  return defineTool({ name: 'add', schema: z.object({}), sideEffect: true, execute })
}

/** A workflow whose task ends while a call of its runs. */
function leavingBehind(execute: () => Promise<string>) {
  const tool = defineTool({ name: 'late', schema: z.object({}), execute })
  let running: PromiseLike<unknown> = Promise.resolve()
  const workflow = smithers(() =>
    Workflow({
      name: 'w',
      children: Task({
        id: 'a',
        children: () => {
          running = tool.execute({}, call)
          return 'done'
        },
      }),
    }),
  )
  return { workflow, call: async () => running }
}

describe('a run without a log', () => {
  test('is recorded in the state directory of the project', async () => {
    const { tool } = counter()
    const workflow = smithers(() =>
      Workflow({ name: 'w', children: Task({ id: 'a', children: () => tool.execute({}, call) }) }),
    )
    const { runId } = await runWorkflow(workflow)
    expect(defaultLogPath(import.meta.dirname).startsWith(join(stateHome, 'smithers'))).toBe(true)
    expect(await rowsOf(runId)).toMatchObject([{ toolName: 'add', nodeId: 'a', status: 'success' }])
  })

  test('resumes what it had finished', async () => {
    const { tool } = counter()
    const first = counter()
    let fails = true
    const workflow = smithers(() =>
      Workflow({
        name: 'w',
        children: [
          Task({ id: 'once', children: () => first.tool.execute({}, call) }),
          Task({
            id: 'then',
            children: () => {
              if (fails) throw new Error('down')
              return tool.execute({}, call)
            },
          }),
        ],
      }),
    )
    await expect(runWorkflow(workflow, { runId: 'resumed' })).rejects.toThrow('down')
    fails = false
    const { tasks } = await runWorkflow(workflow, { runId: 'resumed' })
    expect(tasks.map(({ id }) => id)).toEqual(['once', 'then'])
    expect(first.calls).toBe(1)
  })

  test('shares one connection with the runs beside it, and closes it after the last', async () => {
    const { tool } = counter()
    const both = Promise.withResolvers<void>()
    let began = 0
    const workflow = smithers(() =>
      Workflow({
        name: 'w',
        children: Task({
          id: 'a',
          children: async () => {
            began += 1
            if (began === 2) both.resolve()
            await both.promise
            return tool.execute({}, call)
          },
        }),
      }),
    )
    const results = await Promise.all([runWorkflow(workflow), runWorkflow(workflow)])
    for (const { runId } of results) expect(await rowsOf(runId)).toHaveLength(1)
    // SQLite removes it when the last connection to the file is closed.
    expect(existsSync(`${defaultLogPath(import.meta.dirname)}-wal`)).toBe(false)
  })

  test('waits for a call that outlives it before the log is closed', async () => {
    const gate = Promise.withResolvers<string>()
    const { workflow, call: late } = leavingBehind(() => gate.promise)
    // By then, a log that does not wait is closed.
    const { runId } = await runWorkflow(workflow, {
      onEvent: ({ type }) => void (type === 'run-end' && setImmediate(() => gate.resolve('late'))),
    })
    expect(await rowsOf(runId)).toMatchObject([{ toolName: 'late', status: 'success' }])
    await expect(late()).resolves.toBe('late')
  })

  test('leaves the log to a run that begins while it waits', async () => {
    const gate = Promise.withResolvers<string>()
    const { workflow } = leavingBehind(() => gate.promise)
    const { tool } = counter()
    const next = smithers(() =>
      Workflow({
        name: 'next',
        children: Task({
          id: 'a',
          children: async () => {
            gate.resolve('late')
            await first
            return tool.execute({}, call)
          },
        }),
      }),
    )
    const ended = Promise.withResolvers<void>()
    const first = runWorkflow(workflow, {
      onEvent: ({ type }) => void (type === 'run-end' && setImmediate(ended.resolve)),
    })
    await ended.promise
    const { runId } = await runWorkflow(next)
    expect(await rowsOf((await first).runId)).toMatchObject([{ status: 'success' }])
    expect(await rowsOf(runId)).toMatchObject([{ toolName: 'add', status: 'success' }])
    expect(existsSync(`${defaultLogPath(import.meta.dirname)}-wal`)).toBe(false)
  })

  test('waits for five seconds at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { workflow } = leavingBehind(() => new Promise<string>(() => {}))
      const { runId } = await runWorkflow(workflow, {
        onEvent: ({ type }) =>
          void (type === 'run-end' && setImmediate(() => vi.advanceTimersByTime(5_000))),
      })
      expect(await rowsOf(runId)).toMatchObject([{ toolName: 'late', status: 'started' }])
    } finally {
      vi.useRealTimers()
    }
  })

  test('waits for an approval that another program gives', async () => {
    const order = defineTool({
      name: 'order',
      schema: z.object({}),
      sideEffect: true,
      acceptsContext: true,
      needsApproval: true,
      execute: () => 'ordered',
    })
    const workflow = smithers(() =>
      Workflow({ name: 'w', children: Task({ id: 'a', children: () => order.execute({}, call) }) }),
    )
    const waiting = expect.objectContaining({ code: 'TOOL_APPROVAL_REQUIRED' })
    await expect(runWorkflow(workflow, { runId: 'asks' })).rejects.toEqual(waiting)
    const log = createSqliteLog({ path: defaultLogPath(import.meta.dirname) })
    const [asked] = await pendingApprovals({ log })
    await resolveToolApproval({ log, id: asked?.id ?? '', approved: true })
    await log.close()
    const { tasks } = await runWorkflow(workflow, { runId: 'asks' })
    expect(tasks).toMatchObject([{ id: 'a', output: 'ordered' }])
  })

  test('is recorded for the current folder when a source map names a folder of another machine', async () => {
    const { tool } = counter()
    const workflow = smithers(() =>
      Workflow({ name: 'w', children: Task({ id: 'a', children: () => tool.execute({}, call) }) }),
    )
    const built = Object.create(workflow, { file: { value: '/missing/machine/src/wf.ts' } })
    const { runId } = await runWorkflow(built as typeof workflow)
    const log = createSqliteLog({ path: defaultLogPath(process.cwd()) })
    expect(await log.list({ runId })).toMatchObject([{ toolName: 'add', status: 'success' }])
    await log.close()
  })

  test('says what to do when the state directory cannot be used', async () => {
    vi.stubEnv('XDG_STATE_HOME', '/dev/null/nowhere')
    const workflow = smithers(() =>
      Workflow({ name: 'w', children: Task({ id: 'a', children: 'x' }) }),
    )
    await expect(runWorkflow(workflow)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      message: expect.stringContaining('Set XDG_STATE_HOME'),
    })
  })
})

describe('a task without a log', () => {
  test('is recorded in the log of the current project', async () => {
    const { tool } = counter()
    const { agent } = scriptedAgent({ add: tool }, [{ tool: 'add', input: {} }, 'done'])
    const { runId } = await runTask({ agent, prompt: 'Add.' })
    const log = createSqliteLog({ path: defaultLogPath(process.cwd()) })
    expect(await log.list({ runId })).toMatchObject([{ toolName: 'add', status: 'success' }])
    await log.close()
  })
})

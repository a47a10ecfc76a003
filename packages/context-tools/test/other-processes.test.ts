import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createGetToolResponse, createManageTodoList } from '@smithers/context-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun } from '@smithers/tool-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'context-tools-'))
  path = join(folder, 'log.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function program(name: string, ...args: string[]): Promise<string> {
  const file = join(import.meta.dirname, `fixtures/programs/${name}.ts`)
  const command = ['--conditions=@smithers/source', file, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  return stdout
}

async function inRun<Result>(
  runId: string,
  use: (tools: ReturnType<typeof contextTools>) => Promise<Result>,
): Promise<Result> {
  const log = createSqliteLog({ path })
  try {
    const run = createToolRun({ runId, attempt: 2, log })
    return await use(run.tools(contextTools()))
  } finally {
    await log.close()
  }
}

const contextTools = () => ({
  todo: createManageTodoList(),
  read: createGetToolResponse(),
})
const options = { toolCallId: 'later', messages: [] }

describe('a run that continues in another process', () => {
  it('has the plan and the whole of cut outputs of a process that was killed, and no other run has', async () => {
    const dead = await program('work-and-die', path).catch((error: unknown) => error)
    const { signal, stdout = '' } = dead as { readonly signal?: string; readonly stdout?: string }
    expect(signal).toBe('SIGKILL')
    const [, request = '{}'] = /get_tool_response: (\{.*\})/.exec(stdout) ?? []
    const { id, offset } = JSON.parse(request) as { id: string; offset: number }
    await inRun('r', async ({ todo, read }) => {
      expect(await todo.execute({ operation: 'read' }, options)).toEqual({
        version: 1,
        items: [{ id: 'a', title: 'Pay', status: 'pending' }],
      })
      const shown = stdout.slice(0, stdout.indexOf('\n['))
      const { text } = await read.execute({ id, offset }, options)
      expect(shown + text).toBe('é'.repeat(1000))
    })
    await inRun('other', async ({ todo, read }) => {
      expect(await todo.execute({ operation: 'read' }, options)).toEqual({ version: 0, items: [] })
      for (const foreign of [id, 'output']) {
        await expect(read.execute({ id: foreign }, options)).rejects.toMatchObject({
          code: 'INVALID_INPUT',
        })
      }
    })
  })

  it('loses no change that several processes make to the plan at once', async () => {
    const workers = ['a', 'b', 'c'].map((worker) => [1, 2, 3, 4].map((n) => `${worker}${n}`))
    const ids = workers.flat()
    await inRun('r', async ({ todo }) => {
      const items = ids.map((id) => ({ id, title: `Do ${id}` }))
      await todo.execute({ operation: 'write', items }, options)
    })
    await Promise.all(workers.map((own, n) => program('complete-items', path, `w${n}`, ...own)))
    const plan = await inRun('r', ({ todo }) => todo.execute({ operation: 'read' }, options))
    expect(plan.version).toBe(1 + ids.length)
    expect(plan.items.filter(({ status }) => status !== 'completed')).toEqual([])
  })
})

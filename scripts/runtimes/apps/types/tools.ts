import { createBuiltinTools, tools } from '@smithers/builtin-tools'
import { createManageTodoList } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createSandbox, type RunResult } from '@smithers/sandbox'
import { adaptTool, createTool } from '@smithers/tool-adapters'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { z } from 'zod'

export const pay = defineTool({
  name: 'pay',
  schema: z.object({ cents: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ cents }, ctx) => `${cents.toFixed(0)} ${ctx.idempotencyKey}`,
})

const search = createTool({
  name: 'search',
  schema: z.object({ query: z.string() }),
  func: async ({ query }) => [query.trim()],
})

const clock = adaptTool({ name: 'clock', schema: z.object({}), run: () => 'noon' })

/** Inputs and outputs keep their types. */
export async function work(path: string): Promise<string> {
  const log: ToolCallLog = path === '' ? createMemoryLog() : createSqliteLog({ path })
  const run = createToolRun({ runId: 'types', rootDir: '.', log })
  const all = run.tools({ ...tools, pay, search, clock, todo: createManageTodoList() })
  const paid: string = await all.pay.execute({ cents: 1 }, { toolCallId: 'a', messages: [] })
  // @ts-expect-error -- cents is a number.
  await all.pay.execute({ cents: '1' }, { toolCallId: 'b', messages: [] })
  return paid
}

export async function confined(): Promise<RunResult> {
  const sandbox = await createSandbox({ rootDir: '.', network: { allow: ['example.com'] } })
  return await sandbox.run('true')
}

// @ts-expect-error -- not an option.
createBuiltinTools({ nonsense: true })

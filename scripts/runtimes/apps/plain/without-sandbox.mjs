// What works without confinement: own tools and their logs, a workflow, tools of other shapes, a plan.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManageTodoList } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createTool } from '@smithers/tool-adapters'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { z } from 'zod'

const folder = await mkdtemp(join(tmpdir(), 'smithers-runtime-'))
const logs = [
  ['memory', () => createMemoryLog()],
  ['sqlite', () => createSqliteLog({ path: join(folder, 'calls.db') })],
]
for (const [name, open] of logs) {
  const log = open()
  await callTools(name, log)
  await runTasks(name, log)
  await log.close?.()
}
await rm(folder, { recursive: true })

async function callTools(name, log) {
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ cents: z.number().int() }),
    sideEffect: true,
    idempotent: false,
    execute: async ({ cents }, ctx) => `paid ${cents} with key ${ctx.idempotencyKey}`,
  })
  const search = createTool({
    name: 'search',
    schema: z.object({ query: z.string() }),
    func: async ({ query }) => [`result for ${query}`],
  })
  const run = createToolRun({ runId: 'calls', nodeId: 'one', log })
  const tools = run.tools({ pay, search, todo: createManageTodoList() })
  const call = (toolCallId) => ({ toolCallId, messages: [] })
  console.log(name, await tools.pay.execute({ cents: 5 }, call('a')))
  console.log(name, String(await tools.search.execute({ query: 'keys' }, call('b'))))
  const items = [{ id: 'a', title: 'Read the issue' }]
  const plan = await tools.todo.execute({ operation: 'write', items }, call('c'))
  console.log(name, JSON.stringify(plan))
  // Each call has its own context, however many run at once.
  const many = Array.from({ length: 50 }, (_, index) =>
    tools.pay.execute({ cents: index }, call(`many-${index}`)),
  )
  console.log(name, new Set(await Promise.all(many)).size)
  for (const row of (await log.list({ runId: 'calls' })).slice(0, 4)) {
    console.log(name, row.seq, row.toolName, row.status, row.effect)
  }
}

async function runTasks(name, log) {
  const { Workflow, Task, Parallel, smithers, outputs } = createSmithers({
    input: z.object({ cents: z.number() }),
    share: z.object({ cents: z.number() }),
  })
  let isDown = true
  const workflow = smithers((ctx) =>
    Workflow({
      name: 'dinner',
      children: [
        Task({ id: 'share', output: outputs.share, children: { cents: ctx.input.cents / 3 } }),
        Parallel({
          children: [
            Task({
              id: 'tell',
              children: () => console.log(name, 'share', ctx.outputs.share.cents),
            }),
            Task({
              id: 'pay',
              children: () => {
                if (isDown) throw new Error('the bank is down')
                console.log(name, 'paid')
              },
            }),
          ],
        }),
      ],
    }),
  )
  const runId = 'dinner-1'
  const begin = runWorkflow(workflow, { runId, input: { cents: 9 }, log, backoffMs: 1 })
  await begin.catch((error) => console.log(name, error.code))
  isDown = false
  const { outputs: given } = await runWorkflow(workflow, { runId, log })
  console.log(name, JSON.stringify(given))
}

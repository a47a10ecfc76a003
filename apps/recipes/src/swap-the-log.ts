// The same work with two logs: which one records the calls is a single option of the run.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import type { ToolCallLog } from '@smithers/tool-core'
import { z } from 'zod'

const greet = defineTool({
  name: 'greet',
  schema: z.object({ name: z.string().min(1) }),
  execute: ({ name }) => `Hello, ${name}!`,
})

/** Calls the tool as an agent would: once well, once with arguments that its schema refuses. */
async function work(log: ToolCallLog): Promise<void> {
  const run = createToolRun({ runId: 'run-1', nodeId: 'greeter', log })
  const bound = run.tools({ greet })
  console.log(await bound.greet.execute({ name: 'Ada' }, { toolCallId: 'call-1', messages: [] }))
  await bound.greet.execute({ name: '' }, { toolCallId: 'call-2', messages: [] }).catch(() => {})

  for (const row of await log.list({ runId: 'run-1' })) {
    console.log(`${log.name}: ${row.seq} ${row.toolName} ${row.inputJson} ${row.status}`)
  }
}

const folder = await mkdtemp(join(tmpdir(), 'swap-the-log-'))
for (const log of [createMemoryLog(), createSqliteLog({ path: join(folder, 'calls.db') })]) {
  await work(log)
  await log.close()
}
await rm(folder, { recursive: true })

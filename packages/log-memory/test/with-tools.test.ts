import { createMemoryLog } from '@smithers/log-memory'
import { createToolContext, defineTool, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

describe('createMemoryLog', () => {
  it('holds the calls that tools make in a run, as the README shows', async () => {
    const greet = defineTool({
      name: 'greet',
      schema: z.object({ name: z.string() }),
      execute: async ({ name }) => `Hello, ${name}.`,
    })
    const log = createMemoryLog()
    const context = createToolContext({ runId: 'run-1', nodeId: 'welcome', log })
    await runWithToolContext(context, () =>
      greet.execute({ name: 'Ada' }, { toolCallId: 'call_1', messages: [] }),
    )
    const rows = log.list({ runId: 'run-1' })
    expect(
      rows.map((row) => [row.seq, row.toolName, row.status, row.inputJson, row.outputJson]),
    ).toEqual([[1, 'greet', 'success', '{"name":"Ada"}', '"Hello, Ada."']])
  })
})

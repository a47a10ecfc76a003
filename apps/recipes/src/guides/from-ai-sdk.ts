import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

// Before: a tool of the AI SDK. Nothing records that it has run.
const greetBefore = tool({
  description: 'Greets a person.',
  inputSchema: z.object({ name: z.string() }),
  execute: async ({ name }) => `Hello, ${name}!`,
})

// After: `inputSchema` is `schema`, `name` is new, and the flags say what a repetition would do.
const greet = defineTool({
  name: 'greet',
  description: 'Greets a person.',
  schema: z.object({ name: z.string() }),
  sideEffect: false,
  execute: async ({ name }) => `Hello, ${name}!`,
})

const log = createMemoryLog()
for (const [runId, tools] of [
  ['before', { greet: greetBefore }],
  ['after', { greet }],
] as const) {
  const run = createToolRun({ runId, log })
  const { text } = await generateText({
    model: scriptedModel(['greet', { name: 'Ada' }], 'I said hello.'),
    tools: run.tools(tools),
    messages: await run.messages([{ role: 'user', content: 'Greet Ada.' }]),
    abortSignal: run.abortSignal,
    stopWhen: isStepCount(5),
    onStepEnd: (step) => run.record(step),
  })
  console.log(`${runId}: ${await run.settle(text)} ${log.list({ runId }).length} rows`)
}

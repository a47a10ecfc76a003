import { tools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun } from '@smithers/tool-core'
import { type LanguageModel, ToolLoopAgent } from 'ai'
import { pay } from './tools.js'

/** An agent takes the tools as they are. */
export async function work(model: LanguageModel): Promise<string> {
  const log = createSqliteLog({ path: 'calls.db' })
  const run = createToolRun({ runId: 'types', rootDir: '.', log })
  const agent = new ToolLoopAgent({ model, tools: run.tools({ ...tools, pay }) })
  const messages = await run.messages([{ role: 'user', content: 'Pay.' }])
  const { text } = await agent.generate({ messages, abortSignal: run.abortSignal })
  return text
}

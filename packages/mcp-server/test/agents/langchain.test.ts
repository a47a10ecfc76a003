import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { createSqliteLog } from '@smithers/log-sqlite'
import { expect, it } from 'vitest'
import { createBrokenProject, repair, testsPass } from '../fixtures/broken-project.ts'
import { serverProgram } from '../fixtures/server-program.ts'

/** A model that repairs the project, from the messages that it is given. */
class ScriptedModel extends BaseChatModel {
  readonly #script = repair()

  override _llmType(): string {
    return 'scripted'
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const step = this.#script.next(plainText(messages.at(-1)?.text ?? ''))
    const message = step.done
      ? new AIMessage(step.value)
      : new AIMessage({
          content: '',
          tool_calls: [{ id: `call-${messages.length}`, type: 'tool_call', ...step.value }],
        })
    return Promise.resolve({ generations: [{ text: message.text, message }] })
  }
}

/** The adapter shows a model the whole part as JSON when a result says more of itself, as ours does. */
function plainText(shown: string): string {
  if (!shown.startsWith('{"type":"text"')) return shown
  return (JSON.parse(shown) as { readonly text: string }).text
}

/** The loop of an agent: calls what the model asks for until it says something. */
async function runAgent(
  model: ScriptedModel,
  tools: Awaited<ReturnType<MultiServerMCPClient['getTools']>>,
): Promise<string> {
  const messages: BaseMessage[] = [new HumanMessage('Make the tests pass.')]
  for (;;) {
    const reply = (await model.invoke(messages)) as AIMessage
    messages.push(reply)
    const [call] = reply.tool_calls ?? []
    const tool = tools.find(({ name }) => name === call?.name)
    if (call === undefined || tool === undefined) return reply.text
    // The adapter throws the errors of tools.
    const answer = await tool
      .invoke({ ...call, type: 'tool_call' })
      .catch((error: Error) => new ToolMessage(error.message, call.id ?? ''))
    messages.push(answer as ToolMessage)
  }
}

it('an agent with tools of LangChain repairs the sample project through the server', async () => {
  const { root, logPath } = createBrokenProject()
  expect(await testsPass(root)).toBe(false)
  const { command, args, env } = serverProgram('--root', root, '--log', logPath)
  const client = new MultiServerMCPClient({
    smithers: { transport: 'stdio', command, args: [...args], env, stderr: 'ignore' },
  })
  try {
    const tools = await client.getTools()
    expect(await runAgent(new ScriptedModel({}), tools)).toBe('The tests pass.')
  } finally {
    await client.close()
  }
  expect(await testsPass(root)).toBe(true)
  const log = createSqliteLog({ path: logPath })
  const rows = await log.list({})
  await log.close()
  expect(rows.map(({ toolName }) => toolName)).toEqual(['bash', 'grep', 'read', 'replace', 'bash'])
})

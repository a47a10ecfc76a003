import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { createSqliteLog } from '@smithers/log-sqlite'
import { isStepCount, type LanguageModelUsage, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, it } from 'vitest'
import { createBrokenProject, repair, testsPass } from '../fixtures/broken-project.ts'
import { serverProgram } from '../fixtures/server-program.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
} as unknown as LanguageModelUsage

/** A model that repairs the project, from the prompts that it is given. */
function scriptedModel(): MockLanguageModelV4 {
  const script = repair()
  return new MockLanguageModelV4({
    doGenerate: (async ({
      prompt,
    }: {
      readonly prompt: readonly { readonly content: unknown }[]
    }) => {
      const answer = JSON.stringify(prompt.at(-1)?.content ?? '')
      const step = script.next(answerText(answer))
      const content = step.done
        ? [{ type: 'text', text: step.value }]
        : [
            {
              type: 'tool-call',
              toolCallId: `call-${prompt.length}`,
              toolName: step.value.name,
              input: JSON.stringify(step.value.args),
            },
          ]
      const unified = step.done ? 'stop' : 'tool-calls'
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] }
    }) as never,
  })
}

/** The texts of a tool result, whatever the parts around them. */
function answerText(json: string): string {
  const texts: string[] = []
  JSON.parse(json, (key: string, value: unknown) => {
    if ((key === 'text' || key === 'value') && typeof value === 'string') texts.push(value)
    return value
  })
  return texts.join('\n')
}

it('an agent of the AI SDK repairs the sample project through the server', async () => {
  const { root, logPath } = createBrokenProject()
  expect(await testsPass(root)).toBe(false)
  const { command, args, env } = serverProgram('--root', root, '--log', logPath)
  const transport = new StdioMCPTransport({ command, args: [...args], env, stderr: 'ignore' })
  const client = await createMCPClient({ transport })
  try {
    const tools = await client.tools()
    const model = scriptedModel()
    const agent = new ToolLoopAgent({ model, tools, stopWhen: isStepCount(10) })
    const { text } = await agent.generate({ prompt: 'Make the tests pass.' })
    expect(text).toBe('The tests pass.')
  } finally {
    await client.close()
  }
  expect(await testsPass(root)).toBe(true)
  const log = createSqliteLog({ path: logPath })
  const rows = await log.list({})
  await log.close()
  expect(rows.map(({ toolName }) => toolName)).toEqual(['bash', 'grep', 'read', 'replace', 'bash'])
})

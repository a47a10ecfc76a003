import { ToolLoopAgent } from 'ai'
import { Experimental_Agent as Agent5 } from 'ai-v5'
import { MockLanguageModelV2 } from 'ai-v5/test'
import { ToolLoopAgent as Agent6 } from 'ai-v6'
import { MockLanguageModelV3 } from 'ai-v6/test'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool, type ToolContext } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/log-memory'
import { runTask, type TaskAgent } from '@smithers/workflow'

const flatTokens = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const tokens = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** What the model of every major does: look, answer wrongly, look again, answer well. */
const turns = ['look', 'no JSON', 'look', '{"done":true}'] as const

/** Calls that never reach a tool, and one that does. */
const refusedTurns = ['look {"at":7}', 'look {"at":', 'fly', 'look', '{"done":true}'] as const

/** One turn after the other, in the shape that the majors share. */
function contents(script: readonly string[]) {
  let turn = 0
  return () => {
    const said = script[turn]
    turn += 1
    const [toolName = '', input = '{}'] = said?.split(/ (.*)/) ?? []
    return toolName === 'look' || toolName === 'fly'
      ? ({
          content: [{ type: 'tool-call', toolCallId: `call-${turn}`, toolName, input }],
          reason: 'tool-calls',
        } as const)
      : ({ content: [{ type: 'text', text: said ?? '' }], reason: 'stop' } as const)
  }
}

interface Major {
  readonly agent: TaskAgent
  /** The roles and the kinds of parts of the last prompt that the model was shown. */
  readonly lastPrompt: () => readonly string[]
}

function agents(
  look: ReturnType<typeof lookTool>,
  script: readonly string[] = turns,
  enough = 3,
): Record<string, Major> {
  const [next5, next6, next7] = [contents(script), contents(script), contents(script)]
  const model5 = new MockLanguageModelV2({
    doGenerate: async () => {
      const { content, reason } = next5()
      return { content: [...content], finishReason: reason, usage: flatTokens, warnings: [] }
    },
  })
  const model6 = new MockLanguageModelV3({
    doGenerate: async () => {
      const { content, reason } = next6()
      const finishReason = { unified: reason, raw: undefined }
      return { content: [...content], finishReason, usage: tokens, warnings: [] }
    },
  })
  const model7 = new MockLanguageModelV4({
    doGenerate: async () => {
      const { content, reason } = next7()
      const finishReason = { unified: reason, raw: undefined }
      return { content: [...content], finishReason, usage: tokens, warnings: [] }
    },
  })
  const stopWhen = ({ steps }: { readonly steps: readonly unknown[] }): boolean =>
    steps.length === enough
  const tools = { look }
  return {
    5: { agent: new Agent5({ model: model5, tools, stopWhen }), lastPrompt: () => shown(model5) },
    6: { agent: new Agent6({ model: model6, tools }), lastPrompt: () => shown(model6) },
    7: { agent: new ToolLoopAgent({ model: model7, tools }), lastPrompt: () => shown(model7) },
  }
}

interface Model {
  readonly doGenerateCalls: readonly { readonly prompt: readonly PromptMessage[] }[]
}

interface PromptMessage {
  readonly role: string
  readonly content: string | readonly { readonly type: string }[]
}

function shown({ doGenerateCalls }: Model): readonly string[] {
  const prompt = doGenerateCalls.at(-1)?.prompt ?? []
  return prompt.flatMap(({ role, content }) =>
    typeof content === 'string' ? [role] : content.map(({ type }) => `${role} ${type}`),
  )
}

function lookTool(seen: ToolContext[]) {
  return defineTool({
    name: 'look',
    schema: z.object({ at: z.string().optional() }),
    execute: async (_args, ctx) => {
      seen.push(ctx)
      return 'looked'
    },
  })
}

describe('runTask', () => {
  test.each(['5', '6', '7'])(
    'drives an agent of the AI SDK %s, repair turns too',
    async (major) => {
      const seen: ToolContext[] = []
      const { agent, lastPrompt } = agents(lookTool(seen))[major] as Major
      const result = await runTask({
        agent,
        prompt: 'Look.',
        output: z.object({ done: z.boolean() }),
        nodeId: 'look',
        maxOutputBytes: 777,
      })
      expect(result).toMatchObject({ output: { done: true }, repairs: 1 })
      expect(seen).toMatchObject([
        { nodeId: 'look', seq: 1, maxOutputBytes: 777, toolCallId: 'call-1' },
        { nodeId: 'look', seq: 2, maxOutputBytes: 777, toolCallId: 'call-3' },
      ])
      // What was done before the repair is what the agent must not do again.
      expect(lastPrompt()).toEqual([
        'user text',
        'assistant tool-call',
        'tool tool-result',
        'assistant text',
        'user text',
        'assistant tool-call',
        'tool tool-result',
      ])
    },
  )

  test.each(['5', '6', '7'])(
    'leaves one row of each call that the AI SDK %s refused before its tool',
    async (major) => {
      const seen: ToolContext[] = []
      const { agent } = agents(lookTool(seen), refusedTurns, 5)[major] as Major
      const log = createMemoryLog()
      await runTask({ agent, prompt: 'Look.', output: z.object({ done: z.boolean() }), log })
      expect(seen).toHaveLength(1)
      const rows = log.list({}).toSorted((a, b) => ids(a).localeCompare(ids(b)))
      expect(
        rows.map(({ toolCallId, toolName, status, effect, errorJson }) => [
          `${toolCallId} ${toolName} ${status} ${effect}`,
          (JSON.parse(errorJson ?? '{}') as { code?: string }).code,
        ]),
      ).toEqual([
        ['call-1 look error none', 'INVALID_INPUT'],
        ['call-2 look error none', 'INVALID_INPUT'],
        ['call-3 fly error none', 'TOOL_NOT_FOUND'],
        ['call-4 look success none', undefined],
      ])
      expect(new Set(rows.map(({ seq }) => seq)).size).toBe(4)
    },
  )
})

function ids({ toolCallId }: { readonly toolCallId: string | null }): string {
  return toolCallId ?? ''
}

import { createGetToolResponse } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

function reader(output: unknown, maxInlineOutputBytes = 200) {
  const log = createMemoryLog()
  const produce = defineTool({ name: 'produce', schema: z.object({}), execute: () => output })
  const run = createToolRun({ runId: 'r', log, maxInlineOutputBytes, maxOutputBytes: 1000 })
  const tools = run.tools({
    produce,
    get_tool_response: createGetToolResponse({ maxBytes: 100 }),
  })
  const read = (id: string, offset?: number) =>
    tools.get_tool_response.execute(
      { id, ...(offset === undefined ? {} : { offset }) },
      { toolCallId: 'read', messages: [] },
    )
  const all = async (id: string): Promise<string> => {
    let text = ''
    for (let offset: number | null = 0; offset !== null;) {
      const part = await read(id, offset)
      expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(100)
      text += part.text
      offset = part.nextOffset
    }
    return text
  }
  return {
    log,
    read,
    all,
    produce: (toolCallId: string) => tools.produce.execute({}, { toolCallId, messages: [] }),
  }
}

const noted = /\[(\d+) of (\d+) bytes are not shown\. Read them with get_tool_response: (\{.*\})\]$/

/** What the model was told last: the result of a tool. */
function lastText(prompt: readonly { readonly content: unknown }[]): string {
  const parts = prompt.at(-1)?.content as { readonly output?: { readonly value: string } }[]
  return parts[0]?.output?.value ?? ''
}

describe('get_tool_response', () => {
  it('answers in the run that cut an output, with the id that the note at the cut names', async () => {
    const output = Array.from({ length: 500 }, (_, n) => `line ${n}`).join('\n')
    const { produce, read, all } = reader(output)
    const seen = String(await produce('call_1'))
    expect(Buffer.byteLength(seen)).toBeLessThanOrEqual(200)
    const [, hidden, bytes, request] = noted.exec(seen) ?? []
    const { id, offset } = JSON.parse(request ?? '{}') as { id: string; offset: number }
    expect([Number(hidden) + offset, Number(bytes)]).toEqual([output.length, output.length])
    expect(seen.startsWith(output.slice(0, offset))).toBe(true)
    // The note leads to the byte after what was shown.
    expect(await read(id, offset)).toMatchObject({
      toolName: 'produce',
      offset,
      text: output.slice(offset, offset + 100),
    })
    expect(await all(id)).toBe(output)
  })

  it('takes the id of the tool call as well, and gives other values as JSON', async () => {
    const output = { rows: Array.from({ length: 300 }, (_, n) => ({ n })) }
    const { produce, all } = reader(output)
    await produce('call_1')
    expect(JSON.parse(await all('call_1'))).toEqual(output)
  })

  it('reads outputs that were never cut, which the conversation may have lost', async () => {
    const { produce, read } = reader('short')
    expect(await produce('call_1')).toBe('short')
    expect(await read('call_1')).toEqual({
      toolName: 'produce',
      bytes: 5,
      offset: 0,
      text: 'short',
      nextOffset: null,
    })
  })

  it('gives every byte back once, whatever the text and its characters', async () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 })
    await fc.assert(
      fc.asyncProperty(texts, async (output) => {
        const { produce, all } = reader(output)
        await produce('call_1')
        expect(await all('call_1')).toBe(output)
      }),
      { numRuns: 50 },
    )
  })

  it('hides the secrets of the run in what it keeps', async () => {
    const log = createMemoryLog()
    const produce = defineTool({
      name: 'produce',
      schema: z.object({}),
      execute: () => `${'x'.repeat(300)} hunter2`,
    })
    const run = createToolRun({
      runId: 'r',
      log,
      maxInlineOutputBytes: 200,
      redact: { values: ['hunter2'] },
    })
    const tools = run.tools({ produce, read: createGetToolResponse() })
    await tools.produce.execute({}, { toolCallId: 'c', messages: [] })
    const { text } = await tools.read.execute({ id: 'c' }, { toolCallId: 'd', messages: [] })
    expect(text).toMatch(/x \[redacted\]$/)
  })

  it('says what was kept when the log alone cut the output', async () => {
    const log = createMemoryLog()
    const produce = defineTool({
      name: 'produce',
      schema: z.object({}),
      execute: () => 'x'.repeat(5000),
    })
    const run = createToolRun({ runId: 'r', log, maxOutputBytes: 1000 })
    const tools = run.tools({ produce, read: createGetToolResponse() })
    expect(await tools.produce.execute({}, { toolCallId: 'c', messages: [] })).toHaveLength(5000)
    const part = await tools.read.execute({ id: 'c' }, { toolCallId: 'd', messages: [] })
    expect(part.note).toMatch(/Only the beginning of 5002 bytes was kept/)
  })

  it('takes an id that was used again for the last call of this task, then of the run', async () => {
    const log = createMemoryLog()
    const echo = defineTool({
      name: 'echo',
      schema: z.object({ text: z.string() }),
      execute: ({ text }) => text,
    })
    const task = (nodeId: string, attempt: number) =>
      createToolRun({ runId: 'r', nodeId, attempt, log, maxInlineOutputBytes: 200 }).tools({
        echo,
        read: createGetToolResponse(),
      })
    const call = { toolCallId: 'call_1', messages: [] }
    // The first is cut and archived, the others are not.
    await task('a', 1).echo.execute({ text: 'x'.repeat(1000) }, call)
    await task('a', 2).echo.execute({ text: 'mine' }, call)
    await task('b', 1).echo.execute({ text: 'of another task' }, call)
    const read = (nodeId: string) =>
      task(nodeId, 3).read.execute({ id: 'call_1' }, { toolCallId: 'read', messages: [] })
    expect((await read('a')).text).toBe('mine')
    expect((await read('b')).text).toBe('of another task')
    await task('b', 3).echo.execute({ text: 'of b alone' }, { ...call, toolCallId: 'call_2' })
    const ofAnother = await task('a', 3).read.execute({ id: 'call_2' }, { ...call })
    expect(ofAnother.text).toBe('of b alone')
  })

  it('gives an agent the rest of an output in the turn after it was cut', async () => {
    const output = 'é'.repeat(2000)
    const produce = defineTool({ name: 'produce', schema: z.object({}), execute: () => output })
    const run = createToolRun({ runId: 'r', log: createMemoryLog(), maxInlineOutputBytes: 500 })
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    }
    const call = (toolName: string, input: string) => ({
      content: [{ type: 'tool-call' as const, toolCallId: toolName, toolName, input }],
      finishReason: { unified: 'tool-calls' as const, raw: undefined },
      usage,
      warnings: [],
    })
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        const [, request] = /get_tool_response: (\{.*?\})\]/.exec(lastText(prompt)) ?? []
        return request === undefined ? call('produce', '{}') : call('get_tool_response', request)
      },
    })
    const result = await generateText({
      model,
      prompt: 'go',
      tools: run.tools({ produce, get_tool_response: createGetToolResponse() }),
      stopWhen: ({ steps }) => steps.length === 2,
    })
    const [cut, rest] = result.steps.map(({ toolResults }) => toolResults[0]?.output)
    const shown = String(cut).slice(0, String(cut).indexOf('\n['))
    expect(shown + (rest as { readonly text: string }).text).toBe(output)
  })

  it('knows no calls of other runs, and says so', async () => {
    const { log, produce } = reader('short')
    await produce('call_1')
    const { read } = createToolRun({ runId: 'other', log }).tools({ read: createGetToolResponse() })
    for (const id of ['call_1', log.snapshot()[0]?.callToken ?? '', 'nothing']) {
      await expect(read.execute({ id }, { toolCallId: 'x', messages: [] })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    }
  })
})

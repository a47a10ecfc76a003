import { createResponse } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { defineTool } from '@smithers/tool-core'
import { createSmithers, runTask, runWorkflow, type TaskEvent } from '@smithers/workflow'
import { isStepCount, ToolLoopAgent } from 'ai'
import { Experimental_Agent as Agent5 } from 'ai-v5'
import { MockLanguageModelV2 } from 'ai-v5/test'
import { ToolLoopAgent as Agent6 } from 'ai-v6'
import { MockLanguageModelV3 } from 'ai-v6/test'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const report = z.object({ summary: z.string(), score: z.number() })
const good = { summary: 'good', score: 1 }
const tokens = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

type Call = readonly [toolName: string, input: object]

/** What the model says in a turn: words, calls, or both. */
interface Turn {
  readonly text?: string
  readonly calls?: readonly Call[]
}

function contentOf({ text, calls = [] }: Turn, number: number) {
  return [
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(([toolName, input], index) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${number}-${index}`,
      toolName,
      input: JSON.stringify(input),
    })),
  ]
}

function reasonOf({ calls = [] }: Turn): 'tool-calls' | 'stop' {
  return calls.length > 0 ? 'tool-calls' : 'stop'
}

/** A model that answers from a list, and what was asked of it before it was told to stop. */
function modelOf(turns: readonly Turn[]) {
  const asked: string[] = []
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt, abortSignal }) => {
      // As a provider's client does: nothing leaves for a call that is aborted already.
      abortSignal?.throwIfAborted()
      asked.push(JSON.stringify(prompt))
      const turn = turns[asked.length - 1] ?? { text: 'I have nothing more to say.' }
      return {
        content: contentOf(turn, asked.length),
        finishReason: { unified: reasonOf(turn), raw: undefined },
        usage: tokens,
        warnings: [],
      }
    },
  })
  return { model, asked }
}

/** A tool whose effects are noted when it has ended. */
function noteTool(effects: string[]) {
  return defineTool({
    name: 'note',
    schema: z.object({ text: z.string(), ticks: z.number().default(0) }),
    sideEffect: true,
    acceptsContext: true,
    execute: async ({ text, ticks }, { abortSignal }) => {
      for (let tick = 0; tick < ticks; tick += 1) await new Promise((next) => setImmediate(next))
      abortSignal.throwIfAborted()
      effects.push(text)
      return 'noted'
    },
  })
}

async function run(turns: readonly Turn[], more: { readonly output?: typeof report } = {}) {
  const effects: string[] = []
  const events: TaskEvent[] = []
  const log = createMemoryLog()
  const { model, asked } = modelOf(turns)
  const tools = {
    note: noteTool(effects),
    response: createResponse({ outputSchema: report }).tool,
  }
  const agent = new ToolLoopAgent({ model, tools, stopWhen: isStepCount(5) })
  const result = await runTask({
    agent,
    prompt: 'Report.',
    log,
    output: report,
    onEvent: (event) => events.push(event),
    ...more,
  })
  const rows = log.snapshot().map(({ toolName, status }) => `${toolName} ${status}`)
  return { ...result, effects, events, rows, asked }
}

describe('a task whose agent has the tool response', () => {
  test('ends with its valid call as the output, and asks nothing more of the model', async () => {
    const { output, effects, asked, repairs } = await run([
      { calls: [['note', { text: 'first' }]] },
      { calls: [['response', good]] },
      { calls: [['note', { text: 'never' }]] },
    ])
    expect(output).toEqual(good)
    expect(effects).toEqual(['first'])
    expect([asked.length, repairs]).toEqual([2, 0])
  })

  test('says how to answer instead of asking for JSON in words', async () => {
    const { asked } = await run([{ calls: [['response', good]] }])
    expect(asked[0]).toContain(String.raw`calling the tool \"response\" once`)
    expect(asked[0]).not.toContain('JSON Schema')
  })

  test('lets the calls before it in the same turn end, and runs none after it', async () => {
    const { output, effects, rows } = await run([
      {
        calls: [
          ['note', { text: 'before', ticks: 50 }],
          ['response', good],
          ['note', { text: 'after' }],
          ['response', { summary: 'second', score: 2 }],
        ],
      },
    ])
    expect(output).toEqual(good)
    expect(effects).toEqual(['before'])
    expect(rows.toSorted()).toEqual([
      'note error',
      'note success',
      'response error',
      'response success',
    ])
  })

  test('continues after an invalid call, and takes the valid one', async () => {
    const { output, asked } = await run([
      { calls: [['response', { summary: 'no score' }]] },
      { calls: [['response', good]] },
    ])
    expect(output).toEqual(good)
    expect(asked[1]).toContain('score')
  })

  test('asks for the call when the agent ends with other words', async () => {
    const { output, events, asked } = await run([
      { text: 'I am done.' },
      { calls: [['response', good]] },
    ])
    expect(output).toEqual(good)
    expect(asked[1]).toContain(String.raw`Call the tool \"response\" with your answer`)
    expect(events.filter(({ type }) => type === 'repair')).toHaveLength(1)
  })

  test('takes the answer also when it was given as JSON in words', async () => {
    expect((await run([{ text: JSON.stringify(good) }])).output).toEqual(good)
  })

  test('refuses an answer that does not match the schema of the task', async () => {
    const output = z.object({ verdict: z.string() }) as never
    await expect(run([{ calls: [['response', good]] }], { output })).rejects.toMatchObject({
      code: 'TASK_OUTPUT_INVALID',
      message: expect.stringContaining('in the value that "response" returned'),
    })
  })

  test('gives a value that is no object as it is', async () => {
    const list = z.array(z.number())
    const { model } = modelOf([{ calls: [['response', { value: [1, 2] }]] }])
    const { tool: response } = createResponse({ outputSchema: list })
    const agent = new ToolLoopAgent({ model })
    const { output } = await runTask({ agent, prompt: 'Count.', output: list, tools: { response } })
    expect(output).toEqual([1, 2])
  })

  test('tells what the agent says beside its calls, while it works', async () => {
    const { events } = await run([
      { text: 'I look.', calls: [['note', { text: 'a' }]] },
      { text: 'That is all.', calls: [['response', good]] },
    ])
    expect(events.flatMap((event) => (event.type === 'text' ? event.text : []))).toEqual([
      'I look.',
      'That is all.',
    ])
  })

  test('works with the agents of the AI SDK 5 and 6', async () => {
    const turn: Turn = { calls: [['response', good]] }
    const never: Turn = { calls: [['note', { text: 'never' }]] }
    const effects: string[] = []
    const { tool: response, stopWhen } = createResponse({ outputSchema: report })
    const tools = { note: noteTool(effects), response }
    let turns6 = 0
    const model5 = new MockLanguageModelV2({
      doGenerate: async () => ({
        content: contentOf(turn, 1),
        finishReason: 'tool-calls',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        warnings: [],
      }),
    })
    const model6 = new MockLanguageModelV3({
      doGenerate: async ({ abortSignal }) => {
        abortSignal?.throwIfAborted()
        turns6 += 1
        return {
          content: contentOf(turns6 === 1 ? turn : never, turns6),
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage: tokens,
          warnings: [],
        }
      },
    })
    // The agent of 5 takes no listener beside its own, so it needs the condition.
    const agents = [
      new Agent5({ model: model5, tools, stopWhen }),
      new Agent6({ model: model6, tools }),
    ]
    for (const agent of agents) {
      const { output } = await runTask({ agent, prompt: 'Report.', output: report })
      expect(output).toEqual(good)
    }
    expect([effects, turns6]).toEqual([[], 1])
  })

  test('records the answer as the output of a <Task>, which a resume keeps', async () => {
    const { Workflow, Task, smithers, outputs } = createSmithers({ report })
    const { tool: response } = createResponse({ outputSchema: report })
    const { model, asked } = modelOf([{ calls: [['response', good]] }])
    const agent = new ToolLoopAgent({ model })
    let broken = true
    const workflow = smithers((ctx) => (
      <Workflow name="report">
        <Task id="report" output={outputs.report} agent={agent} tools={{ response }}>
          Report.
        </Task>
        <Task id="after">
          {() => {
            if (broken) throw new Error('not yet')
            return ctx.outputs.report?.summary
          }}
        </Task>
      </Workflow>
    ))
    const place = { runId: 'r', log: createMemoryLog() }
    await expect(runWorkflow(workflow, place)).rejects.toThrow('not yet')
    broken = false
    const { outputs: made, tasks } = await runWorkflow(workflow, place)
    expect(made).toEqual({ report: good })
    expect(tasks.at(-1)?.output).toBe('good')
    expect(asked).toHaveLength(1)
  })
})

import { type Agent, generateText, streamText, type Tool, ToolLoopAgent, type ToolSet } from 'ai'
import {
  Experimental_Agent as AgentV5,
  generateText as generateTextV5,
  type ToolSet as ToolSetV5,
} from 'ai-v5'
import {
  generateText as generateTextV6,
  ToolLoopAgent as ToolLoopAgentV6,
  type ToolSet as ToolSetV6,
} from 'ai-v6'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  type DefinedTool,
  defineTool,
  type DefineToolOptions,
  toolset,
  type Verification,
} from '@smithers/tool-core'

const weather = defineTool({
  name: 'weather.today',
  schema: z.object({ city: z.string() }),
  execute: async ({ city }, ctx) => ({ city, celsius: 20, key: ctx.idempotencyKey }),
})
const progress = defineTool({
  name: 'progress',
  schema: z.object({ steps: z.number() }),
  async *execute({ steps }) {
    for (let step = 0; step <= steps; step += 1) yield { step }
  },
})
const tools = { weather, progress }
type WeatherOutput = { city: string; celsius: number; key: string }

describe('defineTool', () => {
  test('infers input and output, and a direct call returns a promise of the output', () => {
    expectTypeOf(weather).toEqualTypeOf<
      DefinedTool<{ city: string }, WeatherOutput, 'weather.today'>
    >()
    expectTypeOf(weather.execute).returns.toEqualTypeOf<Promise<WeatherOutput>>()
    expectTypeOf(weather).toExtend<DefinedTool<{ city: string }, WeatherOutput>>()
  })

  test('makes members of the tool sets of AI SDK 5, 6 and 7', () => {
    expectTypeOf(tools).toExtend<ToolSet>()
    expectTypeOf(tools).toExtend<ToolSetV6>()
    expectTypeOf(tools).toExtend<ToolSetV5>()
  })

  test('types the tool calls and results of generateText', async () => {
    const result = await generateText({ model: 'mock/model', tools, prompt: '' })
    for (const call of result.toolCalls) {
      if (call.dynamic === true || call.toolName !== 'weather') continue
      expectTypeOf(call.input).toEqualTypeOf<{ city: string }>()
    }
    for (const part of result.toolResults) {
      if (part.dynamic === true) continue
      if (part.toolName === 'weather') expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
      if (part.toolName === 'progress') expectTypeOf(part.output).toEqualTypeOf<{ step: number }>()
    }
  })

  test('types the tool results of generateText in AI SDK 6 and 5', async () => {
    const six = await generateTextV6({ model: 'mock/model', tools, prompt: '' })
    for (const part of six.toolResults) {
      if (part.dynamic === true || part.toolName !== 'weather') continue
      expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
    }
    const five = await generateTextV5({ model: 'mock/model', tools, prompt: '' })
    for (const part of five.toolResults) {
      if (part.dynamic === true || part.toolName !== 'weather') continue
      expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
    }
  })

  test('types the results of streamText', async () => {
    const [part] = await streamText({ model: 'mock/model', tools, prompt: '' }).toolResults
    if (part === undefined || part.dynamic === true || part.toolName !== 'progress') return
    expectTypeOf(part.output).toEqualTypeOf<{ step: number }>()
  })

  test('types the results of ToolLoopAgent, and asks for no tools context', async () => {
    const result = await new ToolLoopAgent({ model: 'mock/model', tools }).generate({ prompt: '' })
    for (const part of result.toolResults) {
      if (part.dynamic === true || part.toolName !== 'weather') continue
      expectTypeOf(part.input).toEqualTypeOf<{ city: string }>()
      expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
    }
    const six = await new ToolLoopAgentV6({ model: 'mock/model', tools }).generate({ prompt: '' })
    for (const part of six.toolResults) {
      if (part.dynamic === true || part.toolName !== 'weather') continue
      expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
    }
  })
})

describe('run.agent', () => {
  const { agent } = createToolRun()

  test('keeps the types of the agent, and is one for the AI SDK', async () => {
    const bound = agent(new ToolLoopAgent({ model: 'mock/model', tools }))
    expectTypeOf(bound).toExtend<Agent<never, typeof tools>>()
    expectTypeOf(bound.tools).toEqualTypeOf<typeof tools>()
    const { text, toolResults } = await bound.generate({ prompt: '' })
    expectTypeOf(text).toEqualTypeOf<string>()
    for (const part of toolResults) {
      if (part.dynamic === true || part.toolName !== 'weather') continue
      expectTypeOf(part.output).toEqualTypeOf<WeatherOutput>()
    }
    const { steps } = await bound.stream({ prompt: '', abortSignal: AbortSignal.timeout(1) })
    expectTypeOf(await steps).items.toHaveProperty('toolCalls')
    // @ts-expect-error neither a prompt nor messages
    await bound.generate({})
  })

  test('takes those of AI SDK 5 and 6', async () => {
    const six = agent(new ToolLoopAgentV6({ model: 'mock/model', tools }))
    expectTypeOf((await six.generate({ prompt: '' })).text).toEqualTypeOf<string>()
    const five = agent(new AgentV5({ model: 'mock/model', tools }))
    const { text } = await five.stream({ prompt: '', abortSignal: AbortSignal.timeout(1) })
    expectTypeOf(await text).toEqualTypeOf<string>()
    // @ts-expect-error no agent
    agent({ tools })
  })
})

describe('toolset', () => {
  test('keys tools by their safe names', () => {
    const set = toolset([weather, progress])
    expectTypeOf(set).toHaveProperty('weather_today')
    expectTypeOf(set.weather_today).toEqualTypeOf<typeof weather>()
    expectTypeOf(set.progress).toEqualTypeOf<typeof progress>()
    expectTypeOf(set).toExtend<ToolSet>()
  })
})

describe('the fields of the AI SDK', () => {
  const schema = z.object({ city: z.string(), at: z.string().transform((text) => new Date(text)) })
  type Input = { city: string; at: Date }
  type Sdk = Tool<Input, WeatherOutput, { tenant: string }>

  test('know the input, the output and the context of the tool', () => {
    defineTool({
      name: 'weather',
      schema,
      contextSchema: z.object({ tenant: z.string() }),
      description: ({ context }) => context.tenant,
      execute: async ({ city }, { context, idempotencyKey }) => {
        expectTypeOf(context).toEqualTypeOf<{ tenant: string }>()
        return { city, celsius: 20, key: idempotencyKey }
      },
      toModelOutput: (options) => {
        expectTypeOf(options).toExtend<Parameters<NonNullable<Sdk['toModelOutput']>>[0]>()
        expectTypeOf(options.output).toEqualTypeOf<WeatherOutput>()
        expectTypeOf(options.input).toEqualTypeOf<Input>()
        return { type: 'text', value: `${options.output.celsius} °C` }
      },
      inputExamples: [{ input: { city: 'Rome', at: '2026-01-01' } }],
      onInputStart: ({ toolCallId, context }) => {
        expectTypeOf(toolCallId).toEqualTypeOf<string>()
        expectTypeOf(context).toEqualTypeOf<{ tenant: string }>()
      },
      onInputDelta: ({ inputTextDelta }) => {
        expectTypeOf(inputTextDelta).toEqualTypeOf<string>()
      },
      onInputAvailable: ({ input }) => {
        expectTypeOf(input).toEqualTypeOf<Input>()
      },
    })
    defineTool({
      name: 'without a context schema',
      schema,
      execute: (_args, { context }) => {
        expectTypeOf(context).toEqualTypeOf<unknown>()
        return 1
      },
    })
  })

  test('take what the fields of a tool of AI SDK 7 take', () => {
    type Ours = DefineToolOptions<typeof schema, WeatherOutput, 'weather', { tenant: string }>
    type Field<Name extends keyof Sdk & keyof Ours> = NonNullable<Sdk[Name]>
    expectTypeOf<Field<'toModelOutput'>>().toExtend<NonNullable<Ours['toModelOutput']>>()
    expectTypeOf<Field<'providerOptions'>>().toExtend<NonNullable<Ours['providerOptions']>>()
    expectTypeOf<Field<'metadata'>>().toExtend<NonNullable<Ours['metadata']>>()
    expectTypeOf<typeof weather>().toExtend<Tool>()
    // What we are given is handed on, so the AI SDK must take it.
    type Shown = Awaited<ReturnType<NonNullable<Ours['toModelOutput']>>>
    type SdkShown = Awaited<ReturnType<Field<'toModelOutput'>>>
    expectTypeOf<SdkShown>().toExtend<Shown>()
    expectTypeOf<Exclude<Shown, { type: 'content' }>['type']>().toEqualTypeOf<
      Exclude<SdkShown, { type: 'content' }>['type']
    >()
  })

  test('refuse what does not fit', () => {
    const execute = (): string => 'ok'
    defineTool({
      name: 'wrong',
      schema,
      execute,
      // @ts-expect-error the city is a text
      inputExamples: [{ input: { city: 5, at: '' } }],
    })
    defineTool({
      name: 'wrong',
      schema,
      execute,
      // @ts-expect-error no such output of a model
      toModelOutput: ({ output }) => ({ type: 'txt', value: output }),
    })
    // @ts-expect-error the output is a text
    defineTool({ name: 'wrong', schema, execute, outputSchema: z.number() })
    const right = defineTool({ name: 'right', schema, execute, outputSchema: z.string() })
    expectTypeOf(right.execute).returns.toEqualTypeOf<Promise<string>>()
  })
})

describe('verify and logOutput', () => {
  test('leave the type of the output to execute', () => {
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      // @ts-expect-error the verdict must hold an output of the tool
      verify: async (): Promise<Verification<string | undefined>> => ({ happened: false }),
      execute: async (_args, _ctx) => 'paid',
    })
    void pay
    const charge = defineTool({
      name: 'charge',
      schema: z.object({}),
      sideEffect: true,
      verify: async (_args, prior, ctx) =>
        prior.attempt > 1
          ? { happened: true, output: `found ${ctx.idempotencyKey}` }
          : { happened: false },
      execute: async (_args, _ctx) => 'charged',
      logOutput: (output) => {
        expectTypeOf(output).toEqualTypeOf<string>()
        return output.length
      },
    })
    expectTypeOf(charge.execute).returns.toEqualTypeOf<Promise<string>>()
    const unknown = defineTool({
      name: 'charge',
      schema: z.object({}),
      sideEffect: true,
      verify: async () => ({ happened: 'unknown' }),
      execute: async (_args, _ctx) => 'charged',
    })
    expectTypeOf(unknown.execute).returns.toEqualTypeOf<Promise<string>>()
    const first = defineTool({
      name: 'charge',
      schema: z.object({}),
      logOutput: (output: string) => output.length,
      execute: async () => 'charged',
    })
    expectTypeOf(first.execute).returns.toEqualTypeOf<Promise<string>>()
  })
})

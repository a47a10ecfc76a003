import { generateText, streamText, ToolLoopAgent, type ToolSet } from 'ai'
import { generateText as generateTextV5, type ToolSet as ToolSetV5 } from 'ai-v5'
import {
  generateText as generateTextV6,
  ToolLoopAgent as ToolLoopAgentV6,
  type ToolSet as ToolSetV6,
} from 'ai-v6'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type DefinedTool, defineTool, toolset } from '@smithers/tool-core'

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

describe('toolset', () => {
  test('keys tools by their safe names', () => {
    const set = toolset([weather, progress])
    expectTypeOf(set).toHaveProperty('weather_today')
    expectTypeOf(set.weather_today).toEqualTypeOf<typeof weather>()
    expectTypeOf(set.progress).toEqualTypeOf<typeof progress>()
    expectTypeOf(set).toExtend<ToolSet>()
  })
})

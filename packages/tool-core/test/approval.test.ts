import { generateText, type ModelMessage, stepCountIs } from 'ai'
import { describe, expect, test } from 'vitest'
import { createToolRun, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createChargeTool } from './fixtures/charge-tool.ts'
import { createLateLog } from './fixtures/late-log.ts'
import { StripeLikeProvider } from './fixtures/provider.ts'
import { scriptedModel, type Turn } from './fixtures/scripted-model.ts'

// The AI SDK runs a tool again for each submission of the same approval.

const ann = { customer: 'ann', amount: 100 }

/** A provider that ignores keys, so that only the journal stands between a submission and a charge. */
class KeylessProvider extends StripeLikeProvider {
  override charge(charge: typeof ann): string {
    return super.charge(charge)
  }
}

async function askForApproval(calls: Turn): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [{ role: 'user', content: 'charge ann' }]
  const result = await generateText({
    model: scriptedModel([calls]),
    messages,
    tools: { charge: createChargeTool(new KeylessProvider()) },
    toolApproval: { charge: 'user-approval' },
  })
  const answers = result.content.flatMap((part) =>
    part.type === 'tool-approval-request'
      ? [
          {
            type: 'tool-approval-response' as const,
            approvalId: part.approvalId,
            approved: true,
          },
        ]
      : [],
  )
  return [...messages, ...result.responseMessages, { role: 'tool', content: answers }]
}

async function submit(
  messages: ModelMessage[],
  provider: StripeLikeProvider,
  log: ToolCallLog,
): Promise<unknown[]> {
  const run = createToolRun({ runId: 'r', log })
  const charge = createChargeTool(provider)
  const result = await generateText({
    model: scriptedModel(['charged']),
    messages,
    tools: run.tools({ charge }),
    toolApproval: { charge: 'user-approval' },
    stopWhen: stepCountIs(3),
  })
  await run.settle()
  return result.responseMessages.flatMap(({ role, content }) =>
    role === 'tool' && Array.isArray(content) ? content : [],
  )
}

describe('an approval that is submitted twice', () => {
  const calls = [{ id: 'call_A', tool: 'charge', input: ann }]

  test.each([
    ['a log that answers at once', () => createMemoryLog()],
    ['a log that answers later', () => createLateLog()],
  ])('runs once, at the same time, with %s', async (_which, createLog) => {
    const provider = new KeylessProvider()
    const log = createLog()
    const messages = await askForApproval(calls)
    const [one, two] = await Promise.all([
      submit(messages, provider, log),
      submit(messages, provider, log),
    ])
    expect(provider.charges).toEqual([ann])
    expect(two).toEqual(one)
    expect(one).toMatchObject([{ toolCallId: 'call_A', output: { value: 'ch_1' } }])
  })

  test('runs once, one submission after the other', async () => {
    const provider = new KeylessProvider()
    const log = createMemoryLog()
    const messages = await askForApproval(calls)
    const one = await submit(messages, provider, log)
    expect(await submit(messages, provider, log)).toEqual(one)
    expect(provider.charges).toEqual([ann])
  })

  test('runs each of two equal calls once', async () => {
    const provider = new KeylessProvider()
    const log = createMemoryLog()
    const messages = await askForApproval([...calls, { id: 'call_B', tool: 'charge', input: ann }])
    await submit(messages, provider, log)
    await submit(messages, provider, log)
    expect(provider.charges).toEqual([ann, ann])
  })

  test('charges twice without a run, as a control', async () => {
    const provider = new KeylessProvider()
    const messages = await askForApproval(calls)
    for (const _ of [1, 2]) {
      await generateText({
        model: scriptedModel(['charged']),
        messages,
        tools: { charge: createChargeTool(provider) },
        toolApproval: { charge: 'user-approval' },
      })
    }
    expect(provider.charges).toEqual([ann, ann])
  })
})

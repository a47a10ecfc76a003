import { createToolRun, defineTool, type OnRetry, type Verification } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'

describe('the drift guard', () => {
  const first = { to: 'ann', text: 'Your order is on its way.' }
  const reworded = { to: 'ann', text: 'Your order has been sent.' }

  async function twice(tool: ReturnType<typeof mail>, calls = [reworded]): Promise<unknown[]> {
    const log = createMemoryLog()
    const one = createToolRun({ runId: 'r', log }).tools({ tool }).tool
    await one.execute(first, callOptions())
    const two = createToolRun({ runId: 'r', log, attempt: 2 }).tools({ tool }).tool
    const answers: unknown[] = []
    for (const call of calls) {
      answers.push(await two.execute(call, callOptions()).catch((error: unknown) => error))
    }
    return answers
  }

  test('blocks a reworded call and shows both sets of arguments', async () => {
    const [answer] = await twice(mail('block'))
    expect(answer).toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
    expect((answer as Error).message).toContain(first.text)
    expect((answer as Error).message).toContain(reworded.text)
  })

  test('asks verify about the call that a new one may repeat', async () => {
    const verify = vi.fn<() => Verification<string>>(() => ({
      happened: true,
      output: 'sent before',
    }))
    expect(await twice(mail('warn', { verify }))).toEqual(['sent before'])
    expect(verify).toHaveBeenCalledExactlyOnceWith(
      reworded,
      expect.objectContaining({ inputJson: JSON.stringify(first) }),
      expect.anything(),
    )
  })

  test('lets it run under warn', async () => {
    expect(await twice(mail('warn'))).toEqual([reworded.text])
  })

  test('lets another call run once the earlier one was repeated', async () => {
    const [repeated, other] = await twice(mail('block'), [first, reworded])
    expect(repeated).toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
    expect(other).toBe(reworded.text)
  })

  test('trusts a key of the tool, which names the intent', async () => {
    expect(await twice(mail('block', { key: textOf }))).toEqual([reworded.text])
  })
})

function mail(onRetry: OnRetry, more: object = {}) {
  return defineTool({
    name: 'mail',
    schema: z.object({ to: z.string(), text: z.string() }),
    sideEffect: true,
    onRetry,
    execute: ({ text }, _ctx) => text,
    ...more,
  })
}

function textOf({ text }: { readonly text: string }): string {
  return text
}

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMemoryLog } from '@smithers/log-memory'
import { defineTool, SmithersError, type ToolContext } from '@smithers/tool-core'
import { runTask, type TaskAgent, type TaskEvent } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const payment = z.object({ id: z.string() })

function chargeTool(seen: ToolContext[], execute: () => unknown = () => 'charged') {
  return defineTool({
    name: 'charge',
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: async (_args, ctx) => {
      seen.push(ctx)
      return execute()
    },
  })
}

const chargeTen = { tool: 'charge', input: { amount: 10 } } as const

describe('runTask', () => {
  test('returns the text of an agent that has no output', async () => {
    const { agent, prompts } = scriptedAgent({}, ['done'])
    expect(await runTask({ agent, prompt: 'Do it.' })).toMatchObject({
      output: 'done',
      text: 'done',
      attempt: 1,
      repairs: 0,
    })
    expect(prompts).toEqual(['Do it.'])
  })

  test('tells the agent the schema and returns what the schema returned', async () => {
    const { agent, prompts } = scriptedAgent({}, ['Here it is:\n```json\n{"count":"3"}\n```'])
    const output = z.object({ count: z.string().transform(Number) })
    const result = await runTask({ agent, prompt: 'Count.', output })
    expect(result.output).toEqual({ count: 3 })
    expect(prompts[0]).toContain('"count":{"type":"string"}')
  })

  test('lets the agent repair its answer, with the conversation so far', async () => {
    const { agent, prompts } = scriptedAgent({}, ['{"id":7}', 'no', '{"id":"p-7"}'])
    const events: TaskEvent[] = []
    const result = await runTask({
      agent,
      prompt: 'Pay.',
      output: payment,
      onEvent: (event) => events.push(event),
    })
    expect(result).toMatchObject({ output: { id: 'p-7' }, attempt: 1, repairs: 2 })
    expect(prompts[1]).toContain('{"id":7}')
    expect(prompts[1]).toContain('id: Invalid input: expected string, received number')
    expect(prompts[2]).toContain('the answer contains no JSON')
    expect(events.map(({ type }) => type)).toEqual([
      'attempt-start',
      'repair',
      'repair',
      'attempt-end',
    ])
  })

  test('fails with the last problem when the repairs are used up', async () => {
    const { agent, prompts } = scriptedAgent({}, ['{}', '{}'])
    const task = runTask({ agent, prompt: 'Pay.', nodeId: 'pay', output: payment, repairs: 1 })
    await expect(task).rejects.toMatchObject({
      code: 'TASK_OUTPUT_INVALID',
      message: expect.stringContaining('The output of task "pay" does not match its schema'),
    })
    expect(prompts).toHaveLength(2)
  })

  test('gives every tool the options of the run, in every attempt and every repair turn', async () => {
    const seen: ToolContext[] = []
    const options = {
      rootDir: '/srv/project',
      allowNetwork: true,
      maxOutputBytes: 1234,
      isolation: 'none',
    } as const
    const { agent } = scriptedAgent({ charge: chargeTool(seen) }, [
      chargeTen,
      () => Promise.reject(new Error('the provider is down')),
      chargeTen,
      'not JSON',
      chargeTen,
      '{"id":"p-1"}',
    ])
    await runTask({
      ...options,
      agent,
      prompt: 'Pay.',
      output: payment,
      toolTimeoutMs: 4321,
      retries: 1,
      backoffMs: 1,
      runId: 'run-1',
      nodeId: 'pay',
      iteration: 2,
      log: createMemoryLog(),
    })
    expect(seen.map(({ attempt, seq }) => [attempt, seq])).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
    ])
    for (const context of seen) {
      expect(context).toMatchObject({ ...options, timeoutMs: 4321, nodeId: 'pay', iteration: 2 })
    }
  })

  test('warns the second attempt of the call that the first one made, under the same key', async () => {
    const seen: ToolContext[] = []
    const { agent, prompts } = scriptedAgent({ charge: chargeTool(seen) }, [
      chargeTen,
      () => Promise.reject(new Error('the provider is down')),
      chargeTen,
      'paid',
    ])
    const result = await runTask({ agent, prompt: 'Pay.', retries: 1, backoffMs: 1 })
    expect(result.attempt).toBe(2)
    const [first, second] = seen
    expect(second?.idempotencyKey).toBe(first?.idempotencyKey)
    expect(prompts[2]).toMatch(/^\[smithers:tool-resume-warning\]/)
    expect(prompts[2]).toContain(`key ${first?.idempotencyKey}`)
    expect(prompts[2]).toMatch(/Pay\.$/)
  })

  test('appends the warning to a conversation that the task continues', async () => {
    const log = createMemoryLog()
    const { agent } = scriptedAgent({ charge: chargeTool([]) }, [chargeTen, 'paid'])
    await runTask({ agent, prompt: 'Pay.', runId: 'run-1', log })
    const later = scriptedAgent({ charge: chargeTool([]) }, ['paid already'])
    const result = await runTask({
      agent: later.agent,
      runId: 'run-1',
      log,
      messages: [{ role: 'user', content: 'Pay what is due.' }],
    })
    expect(result.attempt).toBe(2)
    expect(later.prompts[0]).toMatch(/^Pay what is due\.\n\[smithers:tool-resume-warning\]/)
  })

  test('pauses longer after each failure and says when it continues', async () => {
    const pauses: number[] = []
    const agent: TaskAgent = { generate: () => Promise.reject(new Error('no')) }
    const task = runTask({
      agent,
      prompt: 'Go.',
      retries: 3,
      backoffMs: 4,
      onEvent: (event) => {
        if (event.type === 'attempt-error') pauses.push(event.retryInMs ?? -1)
      },
    })
    await expect(task).rejects.toMatchObject({
      code: 'TASK_FAILED',
      message: 'Task "task" failed in each of 4 attempts: no',
    })
    const [first = 0, second = 0, third = 0, last] = pauses
    expect(first >= 2 && first <= 4).toBe(true)
    expect(second >= 4 && second <= 8).toBe(true)
    expect(third >= 8 && third <= 16).toBe(true)
    expect(last).toBe(-1)
  })

  test('ends at once on an error of the run, however many retries are left', async () => {
    const log = createMemoryLog()
    const seen: ToolContext[] = []
    const broken = {
      ...log,
      start: () => {
        throw new Error('the disk is full')
      },
    }
    const { agent, prompts } = scriptedAgent({ charge: chargeTool(seen) }, [chargeTen, 'fine'])
    const task = runTask({ agent, prompt: 'Pay.', retries: 5, backoffMs: 1, log: broken })
    await expect(task).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
    expect(seen).toEqual([])
    expect(prompts).toHaveLength(1)
  })

  test('stops a tool when time is up, and what it does later changes no row', async () => {
    const log = createMemoryLog()
    let release = (): void => {}
    const stubborn = new Promise<void>((resolve) => {
      release = resolve
    })
    const seen: ToolContext[] = []
    const tools = { charge: chargeTool(seen, () => stubborn) }
    const { agent } = scriptedAgent(tools, [chargeTen])
    const task = runTask({ agent, prompt: 'Pay.', runId: 'run-1', timeoutMs: 20, log })
    await expect(task).rejects.toMatchObject({ code: 'TASK_TIMEOUT' })
    expect(seen[0]?.abortSignal.aborted).toBe(true)
    const [row] = log.list({ runId: 'run-1' })
    expect(row).toMatchObject({ status: 'error', effect: 'unknown' })
    release()
    await pause(5)
    expect(log.list({ runId: 'run-1' })).toEqual([row])

    const next = scriptedAgent(tools, ['I shall look first.'])
    await runTask({ agent: next.agent, prompt: 'Pay.', runId: 'run-1', log })
    expect(next.prompts[0]).toContain('UNKNOWN')
  })

  test('lets a tool that obeys the signal record its own end', async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const obedient = defineTool({
      name: 'wait',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: async (_args, ctx) => {
        controller.abort(new Error('enough'))
        await pause(60_000, undefined, { signal: ctx.abortSignal }).catch(() => {})
        throw new SmithersError('TOOL_ABORTED', 'Stopped before anything was sent.', {
          effect: 'none',
        })
      },
    })
    const { agent } = scriptedAgent({ wait: obedient }, [{ tool: 'wait', input: {} }])
    const task = runTask({ agent, prompt: 'Wait.', runId: 'r', log, signal: controller.signal })
    await expect(task).rejects.toThrow('enough')
    expect(log.list({ runId: 'r' })).toMatchObject([{ status: 'error', effect: 'none' }])
  })

  test('gives the agent the tools of the task beside its own', async () => {
    const seen: ToolContext[] = []
    const { agent } = scriptedAgent({}, [chargeTen, 'paid'])
    await runTask({ agent, prompt: 'Pay.', tools: { charge: chargeTool(seen) }, nodeId: 'pay' })
    expect(seen).toMatchObject([{ nodeId: 'pay', attempt: 1 }])
  })

  test('hands an agent tools that belong to the task wherever they are called from', async () => {
    const seen: ToolContext[] = []
    const charge = chargeTool(seen)
    // A pool that was there before the task: what it calls is not called within the task.
    const { promise: work, resolve: give } = Promise.withResolvers<() => Promise<unknown>>()
    const pool = (async () => (await work)())()
    const agent: TaskAgent = {
      tools: { charge },
      generate: async ({ tools }: { tools: { charge: typeof charge } }) => {
        give(() => tools.charge.execute({ amount: 1 }, { toolCallId: 'call-1', messages: [] }))
        await pool
        return { text: 'paid', response: { messages: [] } }
      },
    }
    await runTask({ agent, prompt: 'Pay.', runId: 'run-1', nodeId: 'pay', maxOutputBytes: 99 })
    expect(seen).toMatchObject([{ runId: 'run-1', nodeId: 'pay', maxOutputBytes: 99 }])
  })

  test('works with a listener that throws', async () => {
    const { agent } = scriptedAgent({}, ['done'])
    const onEvent = (): never => {
      throw new Error('the display is gone')
    }
    expect((await runTask({ agent, prompt: 'Go.', onEvent })).output).toBe('done')
  })

  test.each([
    [{ maxOutputBytes: 0 }, 'maxOutputBytes'],
    [{ toolTimeoutMs: 3_600_001 }, 'toolTimeoutMs must be a positive number'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs must be a positive number of at most 2147483647'],
    [{ retries: -1 }, 'retries'],
    [{ attempt: 0 }, 'attempt'],
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: 7 }, 'prompt of runTask must be a text'],
    [{ messages: 'Go.' }, 'messages of runTask must be an array'],
    [{ agent: undefined }, 'agent of runTask must be an agent of the AI SDK'],
    [{ agent: {} }, 'agent of runTask must be an agent of the AI SDK'],
    [{ agent: null }, 'agent of runTask must be an agent of the AI SDK'],
    [{ output: {} }, 'output of runTask must be a schema of Zod 4'],
    [{ output: null }, 'output of runTask must be a schema of Zod 4'],
    [{ tools: null }, 'tools of runTask must be an object'],
    [{ allow: 'key' }, 'allow must be a list of idempotency keys'],
    [{ allow: [''] }, 'allow must be a list of idempotency keys'],
  ])('refuses %j before it asks the agent', async (options, named) => {
    const { agent, prompts } = scriptedAgent({}, ['done'])
    const events: TaskEvent[] = []
    const task = runTask({
      agent,
      prompt: 'Go.',
      retries: 3,
      onEvent: (event) => events.push(event),
      ...options,
    } as Parameters<typeof runTask>[0])
    await expect(task).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(named),
    })
    expect([prompts, events]).toEqual([[], []])
  })
})

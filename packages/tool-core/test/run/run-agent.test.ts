import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  onRunEnd,
  SmithersError,
  type ToolRun,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { agentMajors, type AnyAgent, type Part } from '../fixtures/agents-of-majors.ts'
import type { ScriptedCall } from '../fixtures/scripted-model.ts'

const prompt = 'Do your work.'

interface Ended {
  /** What was thrown, or the answer. */
  readonly outcome: unknown
  readonly parts: readonly Part[]
}

const driven = {
  async generate(agent: AnyAgent, options: { readonly abortSignal?: AbortSignal } = {}) {
    const outcome = await agent.generate({ prompt, ...options }).then(({ text }) => text, caught)
    return { outcome, parts: [] }
  },
  async stream(agent: AnyAgent, options: { readonly abortSignal?: AbortSignal } = {}) {
    const parts: Part[] = []
    const result = await agent.stream({ prompt, ...options })
    for await (const part of result.fullStream) parts.push(part)
    return { outcome: await result.text.then((text) => text, caught), parts }
  },
} satisfies Record<string, (agent: AnyAgent) => Promise<Ended>>

function caught(error: unknown): unknown {
  return error
}

function surroundings() {
  const log = createMemoryLog()
  const ended: string[] = []
  const started = Promise.withResolvers<void>()
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ to }, ctx) => `paid ${to} in ${ctx.runId}`,
  })
  const leaveRunning = defineTool({
    name: 'leave_running',
    schema: z.object({ name: z.string() }),
    execute: ({ name }) => {
      onRunEnd(() => ended.push(name))
      return 'it runs'
    },
  })
  const wait = defineTool({
    name: 'wait',
    schema: z.object({}),
    execute: (_args, { abortSignal }) => {
      started.resolve()
      return new Promise<never>((_resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(new Error('was told to stop')))
      })
    },
  })
  const breakRun = defineTool({
    name: 'break_run',
    schema: z.object({}),
    execute: () => {
      throw new SmithersError('INVALID_INPUT', 'The root is missing.', { fatal: true })
    },
  })
  const ask = defineTool({
    name: 'ask',
    schema: z.object({}),
    sideEffect: true,
    acceptsContext: true,
    needsApproval: true,
    execute: () => 'asked',
  })
  const tools = { pay, leave_running: leaveRunning, wait, break_run: breakRun, ask }
  const rows = () =>
    log.list({}).map(({ toolName, status, errorJson }) => {
      const { code = status } = JSON.parse(errorJson ?? '{}') as { code?: string }
      return [toolName, code]
    })
  return { log, tools, ended, started: started.promise, rows }
}

function callOf(tool: string, input: object = {}, id = tool): ScriptedCall[] {
  return [{ id: `call-${id}`, tool, input }]
}

async function untilNextTurn(): Promise<void> {
  await new Promise((resolve) => void setImmediate(resolve))
}

const cases = agentMajors.flatMap((major) =>
  (['generate', 'stream'] as const).map((method) => ({
    ...major,
    method,
    drive: driven[method] as (
      agent: AnyAgent,
      options?: { readonly abortSignal?: AbortSignal },
    ) => Promise<Ended>,
  })),
)

describe.each(cases)('an agent of a run, $method in AI SDK $major', ({ create, drive, method }) => {
  test('makes its calls in the run and ends what they left running', async () => {
    const { log, tools, ended, rows } = surroundings()
    const turns = [callOf('leave_running', { name: 'watcher' }), callOf('pay', { to: 'ada' }), 'ok']
    const run = createToolRun({ runId: 'r', log })
    const { agent } = create(tools, turns)
    const pending = drive(run.agent(agent) as AnyAgent)
    expect(ended).toEqual([])
    expect((await pending).outcome).toBe('ok')
    expect(rows()).toEqual([
      ['leave_running', 'success'],
      ['pay', 'success'],
    ])
    expect(ended).toEqual(['watcher'])
    expect(JSON.stringify(log.list({}))).toContain('paid ada in r')
  })

  test('reads in the next attempt what the earlier one may have done', async () => {
    const { log, tools } = surroundings()
    for (const attempt of [1, 2]) {
      const run = createToolRun({ runId: 'r', attempt, log })
      const { agent, prompts } = create(tools, [callOf('pay', { to: 'ada' }, `${attempt}`), 'ok'])
      await drive(run.agent(agent) as AnyAgent)
      const [first = ''] = prompts
      expect(first).toContain(prompt)
      expect(first.includes('tool-resume-warning')).toBe(attempt === 2)
    }
  })

  test('leaves rows of calls that never reach a tool', async () => {
    const { log, tools, rows } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const { agent } = create(tools, [[...callOf('fly'), ...callOf('pay', { to: 7 })], 'ok'])
    expect((await drive(run.agent(agent) as AnyAgent)).outcome).toBe('ok')
    expect(rows()).toEqual([
      ['fly', 'TOOL_NOT_FOUND'],
      ['pay', 'INVALID_INPUT'],
    ])
  })

  test('throws what had to stop the run', async () => {
    const { log, tools, ended } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const turns = [callOf('leave_running', { name: 'watcher' }), callOf('break_run'), 'all is well']
    const { outcome, parts } = await drive(run.agent(create(tools, turns).agent) as AnyAgent)
    expect(outcome).toMatchObject({ code: 'INVALID_INPUT', message: 'The root is missing.' })
    expect(run.fatal).toBe(outcome)
    expect(ended).toEqual(['watcher'])
    const errors = parts.filter(({ type }) => type === 'error').map(({ error }) => error)
    expect(errors).toEqual(method === 'stream' ? [run.fatal] : [])
  })

  test('stops for an approval before its model is asked again', async () => {
    const { log, tools } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const { agent, prompts } = create(tools, [callOf('ask'), 'I did it without you'])
    const { outcome } = await drive(run.agent(agent) as AnyAgent)
    expect(outcome).toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
    expect(prompts).toHaveLength(1)
  })

  test('is stopped by the signal of a call, with the tool that it waits for', async () => {
    const { log, tools, started, ended, rows } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const abort = new AbortController()
    const turns = [callOf('leave_running', { name: 'watcher' }), callOf('wait'), 'never']
    const pending = drive(run.agent(create(tools, turns).agent) as AnyAgent, {
      abortSignal: abort.signal,
    })
    await started
    abort.abort(new Error('the user has left'))
    expect((await pending).outcome).not.toBe('never')
    await expect.poll(rows).toEqual([
      ['leave_running', 'success'],
      ['wait', 'error'],
    ])
    expect(ended).toEqual(['watcher'])
    expect(run.fatal).toBeUndefined()
  })

  test('passes on a failure of its model, with rows of all that went before', async () => {
    const { log, tools, ended, rows } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const turns = [[...callOf('fly'), ...callOf('leave_running', { name: 'watcher' })]]
    const { agent } = create(tools, turns, 1)
    const { outcome, parts } = await drive(run.agent(agent) as AnyAgent)
    if (method === 'generate') expect(outcome).toMatchObject({ message: 'the model is overloaded' })
    else {
      const errors = parts.filter(({ type }) => type === 'error').map(({ error }) => String(error))
      expect(errors).toEqual(['Error: the model is overloaded'])
    }
    expect(rows()).toContainEqual(['fly', 'TOOL_NOT_FOUND'])
    expect(ended).toEqual(['watcher'])
  })

  test('lets another agent of the run go on', async () => {
    const { log, tools, ended, started } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const abort = new AbortController()
    const longer = drive(
      run.agent(
        create(tools, [callOf('leave_running', { name: 'watcher' }), callOf('wait')]).agent,
      ) as AnyAgent,
      { abortSignal: abort.signal },
    )
    await started
    expect((await drive(run.agent(create(tools, ['done']).agent) as AnyAgent)).outcome).toBe('done')
    expect(ended).toEqual([])
    abort.abort()
    await longer
    expect(ended).toEqual(['watcher'])
  })
})

describe.each(agentMajors)('a stream that nothing reads on, in AI SDK $major', ({ create }) => {
  test('ends with its run, and so does the call that was under way', async () => {
    const { log, tools, started, ended, rows } = surroundings()
    const run = createToolRun({ runId: 'r', log })
    const turns = [callOf('leave_running', { name: 'watcher' }), callOf('wait'), 'never']
    const agent = run.agent(create(tools, turns).agent) as AnyAgent
    const result = await agent.stream({ prompt })
    for await (const part of result.fullStream) {
      if (part.type !== 'tool-call') continue
      await Promise.race([started, untilNextTurn()])
      if (rows().length === 2) break
    }
    await started
    expect(ended).toEqual([])
    await run.close()
    expect(ended).toEqual(['watcher'])
    expect(rows()).toEqual([
      ['leave_running', 'success'],
      ['wait', 'error'],
    ])
    expect(run.fatal).toBeUndefined()
  })
})

describe('a run that was closed', () => {
  function closable(): { readonly run: ToolRun } & ReturnType<typeof surroundings> {
    const given = surroundings()
    return { ...given, run: createToolRun({ runId: 'r', log: given.log }) }
  }
  const options = { toolCallId: 'c', messages: [] }

  test('refuses calls with a code, and says how to go on', async () => {
    const { run, tools, rows } = closable()
    const { pay } = run.tools(tools)
    await run.close()
    await expect(pay.execute({ to: 'ada' }, options)).rejects.toMatchObject({
      code: 'TOOL_CLOSED',
      effect: 'none',
      message: expect.stringContaining('createToolRun with the same runId'),
    })
    expect(rows()).toEqual([['pay', 'TOOL_CLOSED']])
    expect(run.abortSignal.aborted).toBe(true)
    await run.settle()
  })

  test('is closed once, however often', async () => {
    const { run, tools, ended } = closable()
    await run.tools(tools).leave_running.execute({ name: 'watcher' }, options)
    await Promise.all([run.close(), run.close(), run[Symbol.asyncDispose]()])
    await run.close()
    expect(ended).toEqual(['watcher'])
  })

  test('waits until the calls that it ended have their rows', async () => {
    const { run, tools, started, rows } = closable()
    const pending = run.tools(tools).wait.execute({}, options)
    void pending.catch(() => {})
    await started
    await run.close()
    expect(rows()).toEqual([['wait', 'error']])
    await expect(pending).rejects.toThrow('was told to stop')
  })
})

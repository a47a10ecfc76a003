import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMemoryLog } from '@smithers/log-memory'
import { defineTool, getToolContext, type TaskContext } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'
import { logKinds, openLog, type RunLog, type TemporaryLog } from '../fixtures/run-logs.ts'

const { Workflow, Task, Loop, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string() }),
  note: z.object({ text: z.string(), at: z.iso.datetime().optional() }),
  day: z.object({ on: z.iso.date().transform((day) => new Date(day)) }),
})

let opened: TemporaryLog
let log: RunLog

describe.each(logKinds)('runWorkflow with a run in %s', (kind) => {
  beforeEach(() => {
    opened = openLog(kind)
    log = opened.log
  })

  afterEach(() => opened.close())

  test('runs only what had not finished, with the outputs that had', async () => {
    const ran: string[] = []
    let broken = true
    const workflow = smithers((ctx) => (
      <Workflow name="notes">
        <Task id="first" output="note">
          {() => {
            ran.push('first')
            return { text: ctx.input.file }
          }}
        </Task>
        <Task id="second" output="note">
          {() => {
            ran.push(`second after ${ctx.outputs.note?.text}`)
            if (broken) throw new Error('no paper')
            return { text: 'two' }
          }}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: 'a.ts' } }
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'TASK_FAILED',
      message: 'Task "second" failed in its only attempt: no paper. Resume with runId "run-1".',
      details: { runId: 'run-1', nodeId: 'second' },
    })
    broken = false
    const { outputs: made } = await runWorkflow(workflow, { runId: 'run-1', log })
    expect(made.note).toEqual({ text: 'two' })
    expect(ran).toEqual(['first', 'second after a.ts', 'second after a.ts'])
    expect(await log.runs.attempts('run-1')).toMatchObject([
      { nodeId: 'first', attempt: 1, status: 'finished' },
      { nodeId: 'second', attempt: 1, status: 'failed' },
      { nodeId: 'second', attempt: 2, status: 'finished' },
    ])
    expect(await log.runs.list({ runId: 'run-1' })).toMatchObject([
      { status: 'finished', workflow: 'notes', errorJson: null, leaseToken: null },
    ])
  })

  test('gives a resumed tree the same values, also where a schema changes what was recorded', async () => {
    let broken = true
    const workflow = smithers((ctx) => (
      <Workflow name="days">
        <Task id="day" output={outputs.day}>
          {{ on: '2026-02-03' }}
        </Task>
        <Task id="note" output={outputs.note}>
          {() => {
            if (broken) throw new Error('no')
            return { text: String(ctx.outputs.day?.on.getUTCDate()) }
          }}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: '' } }
    await expect(runWorkflow(workflow, options)).rejects.toThrow('no')
    broken = false
    expect((await runWorkflow(workflow, options)).outputs.note).toEqual({ text: '3' })
  })

  test('continues in the interrupted iteration of a loop, in nested loops too', async () => {
    const ran: string[] = []
    let failAt = 'b 1 in 1'
    const step =
      (id: string): (() => string) =>
      () => {
        const { nodeId, iteration } = getToolContext() as TaskContext
        const place = `${id} ${iteration} in ${/@(\d)/.exec(nodeId)?.[1]}`
        ran.push(place)
        if (place === failAt) throw new Error('interrupted')
        return place
      }
    const workflow = smithers((ctx) => (
      <Workflow name="loops">
        <Loop id="outer" until={ctx.iteration === 1}>
          <Loop id="inner" until={ctx.iteration === 1}>
            <Task id="a">{step('a')}</Task>
            <Task id="b">{step('b')}</Task>
          </Loop>
        </Loop>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: '' } }
    await expect(runWorkflow(workflow, options)).rejects.toThrow('interrupted')
    failAt = ''
    await runWorkflow(workflow, options)
    expect(ran).toEqual([
      'a 0 in 0',
      'b 0 in 0',
      'a 1 in 0',
      'b 1 in 0',
      'a 0 in 1',
      'b 0 in 1',
      'a 1 in 1',
      'b 1 in 1',
      'b 1 in 1',
    ])
  })

  test('answers for a finished run without running anything', async () => {
    let runs = 0
    const workflow = smithers(() => (
      <Workflow name="once">
        <Task id="count" output="note">
          {() => ({ text: String((runs += 1)) })}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log, input: { file: 'a' } }
    const first = await runWorkflow(workflow, options)
    expect(await runWorkflow(workflow, options)).toEqual(first)
    expect(runs).toBe(1)
  })

  test('takes over the options that the run was begun with', async () => {
    const contexts: (TaskContext | undefined)[] = []
    let broken = true
    const workflow = smithers(() => (
      <Workflow name="options">
        <Task id="look">
          {() => {
            contexts.push(getToolContext())
            if (broken) throw new Error('no')
          }}
        </Task>
      </Workflow>
    ))
    const options = { rootDir: opened.directory, allowNetwork: true, maxOutputBytes: 77 }
    const first = runWorkflow(workflow, {
      ...options,
      toolTimeoutMs: 99,
      runId: 'run-1',
      log,
      input: { file: '' },
    })
    await expect(first).rejects.toThrow('no')
    broken = false
    await runWorkflow(workflow, { runId: 'run-1', log, allowNetwork: false })
    expect(contexts[0]).toMatchObject({ ...options, timeoutMs: 99 })
    expect(contexts[1]).toMatchObject({ ...options, timeoutMs: 99, allowNetwork: false })
  })

  test('refuses another input for a known run, and leaves the run as it was', async () => {
    const workflow = smithers((ctx) => (
      <Workflow name="input">
        <Task id="fail">
          {() => {
            throw new Error(ctx.input.file)
          }}
        </Task>
      </Workflow>
    ))
    const begun = runWorkflow(workflow, { runId: 'run-1', log, input: { file: 'a' } })
    await expect(begun).rejects.toThrow('a')
    const before = await log.runs.list({})
    const other = runWorkflow(workflow, { runId: 'run-1', log, input: { file: 'b' } })
    await expect(other).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await log.runs.list({})).toEqual(before)
  })
})

describe('runWorkflow', () => {
  test('says that a recorded output no longer matches a schema that has changed', async () => {
    const memory = createMemoryLog()
    let broken = true
    const workflowOf = (schema: z.ZodType) => {
      const { smithers: define } = createSmithers({ note: schema })
      return define(() => (
        <Workflow name="changing">
          <Task id="note" output="note">
            {{ text: 'old' }}
          </Task>
          <Task id="last">
            {() => {
              if (broken) throw new Error('no')
            }}
          </Task>
        </Workflow>
      ))
    }
    const first = runWorkflow(workflowOf(z.object({ text: z.string() })), {
      runId: 'r',
      log: memory,
    })
    await expect(first).rejects.toThrow('no')
    broken = false
    const second = runWorkflow(workflowOf(z.object({ words: z.string() })), {
      runId: 'r',
      log: memory,
    })
    await expect(second).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining(
        'The recorded output of task "note" no longer matches the schema "note"',
      ),
    })
    const third = await runWorkflow(workflowOf(z.object({ text: z.string() })), {
      runId: 'r',
      log: memory,
    })
    expect(third.outputs.note).toEqual({ text: 'old' })
  })

  test('warns of the calls in a log that keeps no runs', async () => {
    const memory = createMemoryLog()
    const send = defineTool({
      name: 'send',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      execute: async () => 'sent',
    })
    const { agent, prompts } = scriptedAgent({ send }, [
      { tool: 'send', input: {} },
      () => Promise.reject(new Error('the connection was lost')),
      'I was warned.',
    ])
    const workflow = smithers(() => (
      <Workflow name="send">
        <Task id="send" agent={agent}>
          Send it.
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', log: memory, input: { file: '' } }
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'TASK_FAILED',
      cause: { message: 'the connection was lost' },
    })
    const { tasks } = await runWorkflow(workflow, options)
    expect(tasks).toMatchObject([{ attempt: 2, output: 'I was warned.' }])
    expect(prompts[2]).toMatch(/^\[smithers:tool-resume-warning\]/)
  })

  test('works in the folder of the file that defines the workflow', async () => {
    const workflow = smithers(() => (
      <Workflow name="folder">
        <Task id="look" output="note">
          {() => ({ text: getToolContext()?.rootDir ?? 'none' })}
        </Task>
      </Workflow>
    ))
    const { outputs: made } = await runWorkflow(workflow, { input: { file: '' } })
    expect(made.note?.text).toBe(import.meta.dirname)
  })
})

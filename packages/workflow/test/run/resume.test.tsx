import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { defineTool, getToolContext, type TaskContext } from '@smithers/tool-core'
import {
  createMemoryRunStore,
  createSmithers,
  type RunStore,
  runWorkflow,
  type WorkflowEvent,
} from '@smithers/workflow'
import { createSqliteRunStore } from '@smithers/workflow/sqlite-store'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, Task, Loop, Parallel, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string() }),
  note: z.object({ text: z.string(), at: z.iso.datetime().optional() }),
  day: z.object({ on: z.iso.date().transform((day) => new Date(day)) }),
})

let directory: string
let store: RunStore

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'smithers-resume-'))
})

afterEach(async () => {
  await store?.close()
  rmSync(directory, { recursive: true })
})

describe.each(['memory', 'sqlite'])('runWorkflow with a run in %s', (kind) => {
  beforeEach(() => {
    store =
      kind === 'memory'
        ? createMemoryRunStore()
        : createSqliteRunStore({ path: join(directory, 'run.db') })
  })

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
    const options = { runId: 'run-1', store, input: { file: 'a.ts' } }
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'TASK_FAILED',
      message: 'Task "second" failed in its only attempt: no paper. Resume with runId "run-1".',
      details: { runId: 'run-1', nodeId: 'second' },
    })
    broken = false
    const { outputs: made } = await runWorkflow(workflow, { runId: 'run-1', store })
    expect(made.note).toEqual({ text: 'two' })
    expect(ran).toEqual(['first', 'second after a.ts', 'second after a.ts'])
    expect(await store.attempts('run-1')).toMatchObject([
      { nodeId: 'first', attempt: 1, status: 'finished' },
      { nodeId: 'second', attempt: 1, status: 'failed' },
      { nodeId: 'second', attempt: 2, status: 'finished' },
    ])
    expect(await store.runs({ runId: 'run-1' })).toMatchObject([
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
    const options = { runId: 'run-1', store, input: { file: '' } }
    await expect(runWorkflow(workflow, options)).rejects.toThrow('no')
    broken = false
    expect((await runWorkflow(workflow, options)).outputs.note).toEqual({ text: '3' })
  })

  test('goes on in the iteration of a loop that was interrupted, in nested loops too', async () => {
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
    const options = { runId: 'run-1', store, input: { file: '' } }
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
    const options = { runId: 'run-1', store, input: { file: 'a' } }
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
    const options = { rootDir: directory, allowNetwork: true, maxOutputBytes: 77 }
    const first = runWorkflow(workflow, {
      ...options,
      toolTimeoutMs: 99,
      runId: 'run-1',
      store,
      input: { file: '' },
    })
    await expect(first).rejects.toThrow('no')
    broken = false
    await runWorkflow(workflow, { runId: 'run-1', store, allowNetwork: false })
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
    const begun = runWorkflow(workflow, { runId: 'run-1', store, input: { file: 'a' } })
    await expect(begun).rejects.toThrow('a')
    const before = await store.runs()
    const other = runWorkflow(workflow, { runId: 'run-1', store, input: { file: 'b' } })
    await expect(other).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await store.runs()).toEqual(before)
  })

  test('refuses a run that is being worked on, and lets it finish', async () => {
    let release = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    const started: string[] = []
    const workflow = smithers(() => (
      <Workflow name="busy">
        <Task id="wait">
          {async () => {
            started.push('wait')
            await waiting
          }}
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', store, input: { file: '' } }
    const first = runWorkflow(workflow, options)
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'WORKFLOW_RUN_BUSY',
      message: expect.stringContaining('Run "run-1" is being worked on by another process'),
    })
    release()
    await first
    expect(started).toEqual(['wait'])
  })

  test('stops working on a run that another process has taken', async () => {
    let release = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    const workflow = smithers(() => (
      <Workflow name="stolen">
        <Parallel>
          <Task id="slow">{() => waiting}</Task>
          <Task id="signalled">
            {({ signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason))
              })
            }
          </Task>
        </Parallel>
        <Task id="after">{() => 'never'}</Task>
      </Workflow>
    ))
    const first = runWorkflow(workflow, { runId: 'run-1', store, input: { file: '' } })
    const failure = first.catch((error: unknown) => error)
    await untilAttempts(2)
    // Another process believes that this one is dead: its lease has ended.
    const taken = await store.claim({
      runId: 'run-1',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'elsewhere:1:1',
      leaseToken: 'theirs',
      leaseExpiresAtMs: Date.now() + 600_000,
      nowMs: Date.now() + 120_000,
    })
    expect(taken.ok).toBe(true)
    release()
    expect(await failure).toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    expect(await store.tasks('run-1')).toMatchObject([
      { nodeId: 'slow', status: 'interrupted' },
      { nodeId: 'signalled', status: 'interrupted' },
    ])
    expect(await store.runs()).toMatchObject([{ status: 'running', ownerId: 'elsewhere:1:1' }])
  })

  test('notices by the renewal of its lease that it has lost the run', async () => {
    const workflow = smithers(() => (
      <Workflow name="renewal">
        <Task id="wait">
          {({ signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason))
            })
          }
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', store, input: { file: '' }, leaseMs: 30 }
    const keepAlive = setInterval(() => {}, 1000)
    const run = runWorkflow(workflow, options)
    const failure = run.catch((error: unknown) => error)
    await untilAttempts(1)
    await store.claim({
      runId: 'run-1',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'elsewhere:1:1',
      leaseToken: 'theirs',
      leaseExpiresAtMs: Date.now() + 600_000,
      nowMs: Date.now() + 120_000,
    })
    expect(await failure).toMatchObject({ code: 'WORKFLOW_RUN_LOST' })
    clearInterval(keepAlive)
  })

  test('stops cleanly on its signal and goes on later, with the warning', async () => {
    const log =
      kind === 'memory' ? createMemoryLog() : createSqliteLog({ path: join(directory, 'run.db') })
    const controller = new AbortController()
    let hang = true
    const sent: string[] = []
    const send = defineTool({
      name: 'send',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: async (_args, ctx) => {
        sent.push(ctx.idempotencyKey)
        if (!hang) return 'sent'
        controller.abort(new Error('Stopped by SIGINT.'))
        return new Promise(() => {})
      },
    })
    const { agent, prompts } = scriptedAgent({ send }, [
      { tool: 'send', input: {} },
      'I was warned.',
    ])
    const workflow = smithers(() => (
      <Workflow name="send">
        <Task id="send" agent={agent}>
          Send it.
        </Task>
      </Workflow>
    ))
    const options = { runId: 'run-1', store, log, input: { file: '' } }
    const stopped = runWorkflow(workflow, { ...options, signal: controller.signal })
    await expect(stopped).rejects.toMatchObject({
      code: 'WORKFLOW_STOPPED',
      message: 'Run "run-1" was stopped: Stopped by SIGINT. Resume with runId "run-1".',
    })
    expect(await store.runs()).toMatchObject([{ status: 'stopped', leaseToken: null }])
    expect(await store.tasks('run-1')).toMatchObject([{ status: 'interrupted' }])
    hang = false
    const events: WorkflowEvent[] = []
    const result = await runWorkflow(workflow, {
      ...options,
      onEvent: (event) => events.push(event),
    })
    expect(result.tasks).toEqual([
      { id: 'send', iteration: 0, attempt: 2, output: 'I was warned.' },
    ])
    expect(prompts[1]).toMatch(/^\[smithers:tool-resume-warning\]/)
    expect(prompts[1]).toContain(`key ${sent[0]}`)
    expect(events[0]).toMatchObject({ type: 'run-start', resumed: true, workflow: 'send' })
    expect(events).toContainEqual(expect.objectContaining({ type: 'attempt-start', warned: true }))
    await log.close()
  })

  test('lets what runs beside a failed task finish, and starts nothing new', async () => {
    const ran: string[] = []
    let failed = (): void => {}
    const failure = new Promise<void>((resolve) => {
      failed = resolve
    })
    const workflow = smithers(() => (
      <Workflow name="siblings">
        <Parallel>
          <Task id="fails">
            {() => {
              throw new Error('no')
            }}
          </Task>
          <Task id="finishes">
            {async () => {
              await failure
              ran.push('finishes')
            }}
          </Task>
        </Parallel>
        <Task id="never">{() => ran.push('never')}</Task>
      </Workflow>
    ))
    const run = runWorkflow(workflow, {
      runId: 'run-1',
      store,
      input: { file: '' },
      onEvent: ({ type }) => type === 'task-error' && failed(),
    })
    await expect(run).rejects.toThrow('no')
    expect(ran).toEqual(['finishes'])
    expect(await store.tasks('run-1')).toMatchObject([
      { nodeId: 'fails', status: 'failed' },
      { nodeId: 'finishes', status: 'finished' },
    ])
  })

  async function untilAttempts(count: number): Promise<void> {
    while ((await store.attempts('run-1')).length < count) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

describe('runWorkflow', () => {
  test('says that a recorded output no longer matches a schema that has changed', async () => {
    store = createMemoryRunStore()
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
    const first = runWorkflow(workflowOf(z.object({ text: z.string() })), { runId: 'r', store })
    await expect(first).rejects.toThrow('no')
    broken = false
    const second = runWorkflow(workflowOf(z.object({ words: z.string() })), { runId: 'r', store })
    await expect(second).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining(
        'The recorded output of task "note" no longer matches the schema "note"',
      ),
    })
    const third = await runWorkflow(workflowOf(z.object({ text: z.string() })), {
      runId: 'r',
      store,
    })
    expect(third.outputs.note).toEqual({ text: 'old' })
  })

  test('warns of what a log knows when the store that knew the run is gone', async () => {
    const log = createMemoryLog()
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
    store = createMemoryRunStore()
    const options = { runId: 'run-1', log, input: { file: '' } }
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'TASK_FAILED',
      cause: { message: 'the connection was lost' },
    })
    const { tasks } = await runWorkflow(workflow, options)
    expect(tasks).toMatchObject([{ attempt: 2, output: 'I was warned.' }])
    expect(prompts[2]).toMatch(/^\[smithers:tool-resume-warning\]/)
  })

  test('works in the folder of the file that defines the workflow', async () => {
    store = createMemoryRunStore()
    const workflow = smithers(() => (
      <Workflow name="folder">
        <Task id="look" output="note">
          {() => ({ text: getToolContext()?.rootDir })}
        </Task>
      </Workflow>
    ))
    const { outputs: made } = await runWorkflow(workflow, { store, input: { file: '' } })
    expect(made.note?.text).toBe(import.meta.dirname)
  })
})

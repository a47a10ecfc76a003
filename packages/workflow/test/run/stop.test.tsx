import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '@smithers/tool-core'
import { createSmithers, runWorkflow, type WorkflowEvent } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'
import { logKinds, openLog, type RunLog, type TemporaryLog } from '../fixtures/run-logs.ts'

const { Workflow, Task, Parallel, smithers } = createSmithers({})

let opened: TemporaryLog
let log: RunLog

describe.each(logKinds)('runWorkflow with a run in %s', (kind) => {
  beforeEach(() => {
    opened = openLog(kind)
    log = opened.log
  })

  afterEach(() => opened.close())

  test('stops cleanly on its signal and resumes later, with the warning', async () => {
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
    const options = { runId: 'run-1', log, input: { file: '' } }
    const stopped = runWorkflow(workflow, { ...options, signal: controller.signal })
    await expect(stopped).rejects.toMatchObject({
      code: 'WORKFLOW_STOPPED',
      message: 'Run "run-1" was stopped: Stopped by SIGINT. Resume with runId "run-1".',
    })
    expect(await log.runs.list({})).toMatchObject([{ status: 'stopped', leaseToken: null }])
    expect(await log.runs.tasks('run-1')).toMatchObject([{ status: 'interrupted' }])
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
      log,
      input: { file: '' },
      onEvent: ({ type }) => type === 'task-error' && failed(),
    })
    await expect(run).rejects.toThrow('no')
    expect(ran).toEqual(['finishes'])
    expect(await log.runs.tasks('run-1')).toMatchObject([
      { nodeId: 'fails', status: 'failed' },
      { nodeId: 'finishes', status: 'finished' },
    ])
  })
})

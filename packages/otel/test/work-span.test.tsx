/** @jsxImportSource @smithers/workflow */
import { SpanStatusCode } from '@opentelemetry/api'
import { createMemoryLog } from '@smithers/log-memory'
import { openTelemetry } from '@smithers/otel'
import { defineTool } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { recordTelemetry } from './fixtures/recorder.ts'
import { call } from './fixtures/shop-tools.ts'

const { Workflow, Task, smithers, outputs } = createSmithers({
  total: z.object({ total: z.number() }),
})

const add = defineTool({
  name: 'add',
  schema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
})

test('a workflow, its tasks and their calls are one trace', async () => {
  using recorder = recordTelemetry()
  const workflow = smithers(() => (
    <Workflow name="bill">
      <Task id="sum" output={outputs.total}>
        {async () => ({ total: await add.execute({ a: 1, b: 2 }, call()) })}
      </Task>
    </Workflow>
  ))
  await runWorkflow(workflow, { log: createMemoryLog(), runId: 'w', telemetry: openTelemetry() })
  const top = recorder.span('invoke_workflow bill')
  const task = recorder.span('task sum')
  const made = recorder.span('execute_tool add')
  expect(top.attributes).toEqual({
    'gen_ai.operation.name': 'invoke_workflow',
    'gen_ai.workflow.name': 'bill',
    'smithers.run.id': 'w',
  })
  expect(task.parentSpanContext?.spanId).toBe(top.spanContext().spanId)
  expect(task.attributes).toEqual({
    'smithers.run.id': 'w',
    'smithers.task.id': 'sum',
    'smithers.task.iteration': 0,
    'smithers.task.attempt': 1,
  })
  expect(made.parentSpanContext?.spanId).toBe(task.spanContext().spanId)
})

test('a failed task and its workflow have an error status', async () => {
  using recorder = recordTelemetry()
  const workflow = smithers(() => (
    <Workflow name="bill">
      <Task id="sum" output={outputs.total}>
        {async () => {
          throw new Error('no sum')
        }}
      </Task>
    </Workflow>
  ))
  await expect(
    runWorkflow(workflow, { log: createMemoryLog(), runId: 'w', telemetry: openTelemetry() }),
  ).rejects.toMatchObject({ code: 'TASK_FAILED' })
  expect(recorder.span('task sum').status.code).toBe(SpanStatusCode.ERROR)
  expect(recorder.span('invoke_workflow bill').attributes['error.type']).toBe('TASK_FAILED')
})

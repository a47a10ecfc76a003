import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSmithers, runWorkflow } from '@smithers/workflow'

describe('runWorkflow', () => {
  test('runs computed tasks in order and lets later ones read earlier outputs', async () => {
    const { Workflow, Task, Loop, Parallel, smithers, outputs } = createSmithers({
      input: z.object({ start: z.number() }),
      first: z.object({ value: z.number() }),
      second: z.object({ value: z.number() }),
      count: z.object({ n: z.number() }),
    })
    const workflow = smithers((ctx) => (
      <Workflow name="sums">
        <Task id="first" output={outputs.first}>
          {{ value: ctx.input.start + 1 }}
        </Task>
        {ctx.outputs.first && (
          <Task id="second" output="second">
            {{ value: ctx.outputs.first.value * 10 }}
          </Task>
        )}
        <Parallel>
          <Task id="a">{() => 'A'}</Task>
          <Task id="b">{() => 'B'}</Task>
        </Parallel>
        <Loop until={(ctx.outputs.count?.n ?? 0) >= 2} maxIterations={5}>
          <Task id="count" output={outputs.count}>
            {{ n: ctx.iteration }}
          </Task>
        </Loop>
      </Workflow>
    ))
    const events: string[] = []
    const result = await runWorkflow(workflow, {
      input: { start: 1 },
      onEvent: (event) => events.push(event.type),
    })
    expect(result.outputs).toEqual({ first: { value: 2 }, second: { value: 20 }, count: { n: 2 } })
    expect(result.tasks.map(({ id, iteration }) => `${id} ${iteration}`)).toEqual([
      'first 0',
      'second 0',
      'a 0',
      'b 0',
      'count 0',
      'count 1',
      'count 2',
    ])
    expect(events.at(0)).toBe('run-start')
    expect(events.at(-1)).toBe('run-end')
  })
})

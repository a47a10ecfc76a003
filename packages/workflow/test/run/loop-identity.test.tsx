import { describe, expect, test } from 'vitest'
import { createMemoryLog } from '@smithers/log-memory'
import { createSmithers, Loop, runWorkflow, Sequence, Task } from '@smithers/workflow'

const { Workflow, smithers } = createSmithers({})

/** A loop of two iterations that notes each of them. */
function counting(task: string, ran: string[], id?: string) {
  return (iteration: number) =>
    Loop({
      ...(id !== undefined && { id }),
      until: iteration >= 1,
      children: Task({
        id: task,
        children: (scope) => {
          ran.push(`${task} ${scope.iteration}`)
        },
      }),
    })
}

describe('the progress of a loop', () => {
  test('is not taken over by a loop that is put before it', async () => {
    const log = createMemoryLog()
    const options = { runId: 'run-1', log }
    const ran: string[] = []
    const work = counting('work', ran)
    const first = smithers((ctx) => (
      <Workflow name="loops">
        {work(ctx.iteration)}
        <Task id="fail">
          {() => {
            throw new Error('not yet')
          }}
        </Task>
      </Workflow>
    ))
    await expect(runWorkflow(first, options)).rejects.toThrow('not yet')
    expect(ran).toEqual(['work 0', 'work 1'])

    // Without ids nothing tells the two loops apart, so the run stops with a question.
    const unnamed = smithers((ctx) => (
      <Workflow name="loops">
        {counting('added', ran)(ctx.iteration)}
        {work(ctx.iteration)}
      </Workflow>
    ))
    await expect(runWorkflow(unnamed, options)).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining(
        'A run that began with one unnamed loop knows it as "loop".',
      ),
    })
    expect(ran).toEqual(['work 0', 'work 1'])

    const named = smithers((ctx) => (
      <Workflow name="loops">
        {counting('added', ran, 'added')(ctx.iteration)}
        {counting('work', ran, 'loop')(ctx.iteration)}
      </Workflow>
    ))
    await runWorkflow(named, options)
    expect(ran).toEqual(['work 0', 'work 1', 'added 0', 'added 1'])
  })

  test('moves with an unnamed loop when the tree around it changes', async () => {
    const log = createMemoryLog()
    const options = { runId: 'run-1', log }
    const ran: string[] = []
    const work = counting('work', ran)
    const first = smithers((ctx) => (
      <Workflow name="loops">
        {work(ctx.iteration)}
        <Task id="fail">
          {() => {
            throw new Error('not yet')
          }}
        </Task>
      </Workflow>
    ))
    await expect(runWorkflow(first, options)).rejects.toThrow('not yet')
    const moved = smithers((ctx) => (
      <Workflow name="loops">
        <Task id="before">{() => {}}</Task>
        <Sequence>{work(ctx.iteration)}</Sequence>
      </Workflow>
    ))
    await runWorkflow(moved, options)
    expect(ran).toEqual(['work 0', 'work 1'])
  })

  test('belongs to one loop: two with the same id are refused, also one inside the other', async () => {
    for (const nested of [true, false]) {
      const inner = Loop({ id: 'same', until: true, children: Task({ id: 'a', children: 'a' }) })
      const outer = Loop({ id: 'same', until: true, children: nested ? inner : [] })
      const workflow = smithers(() => (
        <Workflow name="loops">
          {!nested && inner}
          {outer}
        </Workflow>
      ))
      await expect(runWorkflow(workflow)).rejects.toMatchObject({
        code: 'WORKFLOW_INVALID',
        message: expect.stringContaining('Two loops have the id "same".'),
      })
    }
  })
})

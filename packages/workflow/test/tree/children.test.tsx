import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSmithers, runWorkflow, Task, type WorkflowNode } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, Parallel, Sequence, smithers, outputs } = createSmithers({
  numbers: z.array(z.number()),
  text: z.string(),
})

/** Runs a workflow with the given children. */
function run(children: unknown) {
  const workflow = smithers(() => <Workflow name="children">{children as WorkflowNode}</Workflow>)
  return runWorkflow(workflow)
}

const step = (id: string) => <Task id={id}>{() => id}</Task>

describe('the children of a group', () => {
  // Each of these once finished a run with no task, although the author meant to run some.
  test.each<[what: string, children: unknown, named: string]>([
    ['promises of tags', ['a', 'b'].map(async (id) => step(id)), 'a Promise'],
    ['a function', () => step('a'), 'a function'],
    ['a set of tags', new Set([step('a')]), 'a Set'],
    ['a map of tags', new Map([['a', step('a')]]), 'a Map'],
    ['a plain object', { a: step('a') }, 'an object'],
    ['a component that was not called', { type: Task, props: {} }, 'an object'],
    ['a symbol', Symbol('a'), 'a symbol'],
    ['a bigint', 1n, 'a bigint'],
    ['a generator', [step('a')].values(), 'an object'],
  ])('refuse %s and name the value', async (_what, children, named) => {
    for (const within of [
      children,
      <Sequence>{children as WorkflowNode}</Sequence>,
      <Parallel>{children as WorkflowNode}</Parallel>,
    ]) {
      await expect(run(within)).rejects.toMatchObject({
        code: 'WORKFLOW_INVALID',
        message: expect.stringMatching(
          new RegExp(
            `^The workflow contains (?:${named}|a Array Iterator|a .*Iterator) between tags`,
          ),
        ),
      })
    }
  })

  test('may be tags, lists of them, and values that render nothing', async () => {
    const { tasks } = await run([step('a'), [step('b'), null], false, undefined, true, ' '])
    expect(tasks.map(({ id }) => id)).toEqual(['a', 'b'])
  })
})

describe('the content of a task', () => {
  const outputOf = async (task: WorkflowNode) => (await run(task)).tasks[0]?.output

  test('remains a list when a list is its only child', async () => {
    expect(
      await outputOf(
        <Task id="a" output={outputs.numbers}>
          {[1, 2]}
        </Task>,
      ),
    ).toEqual([1, 2])
    expect(await outputOf(Task({ id: 'a', output: outputs.numbers, children: [1, 2] }))).toEqual([
      1, 2,
    ])
    expect(await outputOf(<Task id="a">{[]}</Task>)).toEqual([])
    expect(await outputOf(<Task id="a">{[{ n: 1 }]}</Task>)).toEqual([{ n: 1 }])
  })

  test('is one text when it is written in parts', async () => {
    const name = 'Ada'
    expect(
      await outputOf(
        <Task id="a" output={outputs.text}>
          Hello {name}, {2} times
        </Task>,
      ),
    ).toBe('Hello Ada, 2 times')
  })

  test('is one text when a prompt is given as a list', async () => {
    const { agent, prompts } = scriptedAgent({}, ['done'])
    await run(
      <Task id="a" agent={agent}>
        {['a', 'b'].map((file) => `- ${file}\n`)}
      </Task>,
    )
    expect(prompts).toEqual(['- a\n- b\n'])
  })

  test.each<[what: string, content: unknown, message: string]>([
    ['a promise', Promise.resolve('Fix it.'), '<Task id="a"> contains a Promise.'],
    [
      'a map',
      new Map([['task', 'Fix it.']]),
      'The prompt of task "a" cannot be recorded: it is a Map.',
    ],
    ['a function that returns a map', () => new Map([['a', 'b']]), 'it is a Map.'],
    [
      'a function that returns nothing',
      () => undefined,
      'The prompt function of task "a" returned nothing.',
    ],
  ])('is refused as a prompt when it is %s', async (_what, content, message) => {
    const { agent, prompts } = scriptedAgent({}, ['done'])
    await expect(
      run(
        <Task id="a" agent={agent}>
          {content as object}
        </Task>,
      ),
    ).rejects.toThrow(message)
    expect(prompts).toEqual([])
  })
})

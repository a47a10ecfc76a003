import { createMemoryLog } from '@smithers/log-memory'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createSmithers,
  runWorkflow,
  Task,
  type WorkflowContext,
  type WorkflowNode,
} from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, Sequence, Parallel, Loop, smithers, outputs } = createSmithers({
  note: z.looseObject({ text: z.string() }),
})

type Context = WorkflowContext<unknown, { note: { text: string } }>

/** Runs a wrong workflow, then a right one under the same id: what had finished must not run again. */
async function runThenMend(
  wrong: (ctx: Context) => WorkflowNode,
  input: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly error: unknown; readonly finishedOnce: boolean }> {
  const log = createMemoryLog()
  let firstRan = 0
  const first = (
    <Task id="first">
      {() => {
        firstRan += 1
      }}
    </Task>
  )
  const workflowOf = (rest: (ctx: Context) => WorkflowNode) =>
    smithers((ctx) => (
      <Workflow name="mended">
        {first}
        {rest(ctx)}
      </Workflow>
    ))
  const run = runWorkflow(workflowOf(wrong), { runId: 'run-1', log, input })
  const error: unknown = await run.then(
    () => 'It ran.',
    (reason: unknown) => reason,
  )
  expect(await log.runs.list({})).toMatchObject([{ status: 'failed', leaseToken: null }])
  const right = workflowOf(() => <Task id="last">{() => 'mended'}</Task>)
  const { tasks } = await runWorkflow(right, { runId: 'run-1', log })
  expect(tasks.map(({ id }) => id)).toEqual(['first', 'last'])
  return { error, finishedOnce: firstRan === 1 }
}

const nothing = (): void => {}

describe('runWorkflow', () => {
  test.each<[what: string, wrong: (ctx: Context) => WorkflowNode, message: string]>([
    [
      'two tasks with the same id',
      () => <Task id="first">{nothing}</Task>,
      'Two tasks have the id "first". Ids name rows of the log',
    ],
    [
      'tasks that wait for each other',
      () => (
        <Parallel>
          <Task id="a" dependsOn={['b']}>
            {nothing}
          </Task>
          <Task id="b" dependsOn={['a']}>
            {nothing}
          </Task>
        </Parallel>
      ),
      'Tasks wait for each other: "a" waits for "b" waits for "a".',
    ],
    [
      'a task that waits for a later one of its sequence',
      () => (
        <Sequence>
          <Task id="a" dependsOn={['c']}>
            {nothing}
          </Task>
          <Task id="b">{nothing}</Task>
          <Task id="c">{nothing}</Task>
        </Sequence>
      ),
      'Tasks wait for each other: "a" waits for "c" waits for "b" waits for "a".',
    ],
    [
      'a task that waits for itself',
      () => (
        <Task id="a" dependsOn={['a']}>
          {nothing}
        </Task>
      ),
      'Tasks wait for each other: "a" waits for "a".',
    ],
    [
      'a task that waits for one that does not exist',
      () => (
        <Task id="a" dependsOn={['ghost']}>
          {nothing}
        </Task>
      ),
      'Task "a" waits for "ghost", but the workflow has no task with this id.',
    ],
    [
      'an output that is not declared',
      () => (
        <Task id="a" output="nope">
          {nothing}
        </Task>
      ),
      '<Task id="a" output> is "nope", which createSmithers does not declare. Declared: "note".',
    ],
    ['text outside a task', () => 'Fix it.', '"Fix it." is outside a <Task>.'],
    [
      'an agent without a prompt',
      () => <Task id="a" agent={scriptedAgent({}, []).agent} />,
      '<Task id="a"> has no prompt.',
    ],
    [
      'a task without work',
      () => <Task id="a" />,
      '<Task id="a"> has neither an agent nor content.',
    ],
    [
      'an asynchronous component',
      () => {
        const Later = (async () => null) as unknown as () => null
        return <Later />
      },
      'The component Later is asynchronous.',
    ],
    [
      'a workflow inside another',
      () => <Workflow name="inner">{null}</Workflow>,
      'A <Workflow> is nested inside another.',
    ],
    [
      'a concurrency of nothing',
      () => <Parallel maxConcurrency={0}>{null}</Parallel>,
      '<Parallel maxConcurrency> must be a whole number from 1, got 0.',
    ],
    [
      'a timeout that overflows the timer',
      () => (
        <Task id="a" timeoutMs={2 ** 31}>
          {nothing}
        </Task>
      ),
      '<Task id="a" timeoutMs> must be a positive number of at most 2147483647 milliseconds',
    ],
    [
      'a function that throws',
      () => {
        throw new Error('ctx.input is empty')
      },
      'The workflow could not be rendered: ctx.input is empty',
    ],
  ])('names %s and leaves a run that can be resumed', async (_what, wrong, message) => {
    const { error } = await runThenMend(wrong)
    expect(error).toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining(message),
      details: { runId: 'run-1' },
    })
  })

  test('keeps finished tasks when the error appears later', async () => {
    const { error, finishedOnce } = await runThenMend(() => (
      <Task id="a" dependsOn={['ghost']}>
        {nothing}
      </Task>
    ))
    expect(error).toMatchObject({ code: 'WORKFLOW_INVALID' })
    expect(finishedOnce).toBe(true)
  })

  test.each<[what: string, output: unknown, message: string]>([
    [
      'that does not match its schema',
      { text: 7 },
      'text: Invalid input: expected string, received number',
    ],
    ['that JSON cannot hold', { text: 'a', big: 10n }, '"big" is a bigint'],
    ['that contains itself', circular(), '"self" contains itself'],
  ])('names an output %s and leaves a run that can be resumed', async (_what, output, message) => {
    const { error, finishedOnce } = await runThenMend(() => (
      <Task id="bad" output={outputs.note}>
        {() => output}
      </Task>
    ))
    expect(error).toMatchObject({
      code: 'TASK_OUTPUT_INVALID',
      message: expect.stringContaining(message),
    })
    expect(finishedOnce).toBe(true)
  })

  test.each<[what: string, input: Record<string, unknown>, message: string]>([
    [
      'a function',
      { callback: nothing },
      'The input cannot be recorded: "callback" is a function.',
    ],
    ['a date', { when: { at: new Date(0) } }, '"when.at" is a Date.'],
    ['a cycle', circular(), '"self" contains itself.'],
    ['infinity', { limit: Number.POSITIVE_INFINITY }, '"limit" is Infinity.'],
    ['a hole', { list: [undefined] }, '"list.0" is undefined.'],
  ])(
    'names %s in the input and leaves a run that can be resumed',
    async (_what, input, message) => {
      const { error } = await runThenMend(() => null, input)
      expect(error).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message),
        details: { runId: 'run-1' },
      })
    },
  )

  const typed = createSmithers({ input: z.object({ file: z.string() }) })
  const needsFile = typed.smithers((ctx) => (
    <Workflow name="typed">
      <Task id="read">{() => ctx.input.file}</Task>
    </Workflow>
  ))

  test.each([[{ file: 7 }], [{ fil: 'a.ts' }], [undefined]])(
    'begins no run with the input %j, so that a valid one can begin it',
    async (wrong) => {
      const log = createMemoryLog()
      const options = { runId: 'r', log }
      await expect(
        runWorkflow(needsFile, { ...options, ...(wrong && { input: wrong as never }) }),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining("The input does not match the workflow's schema: file:"),
      })
      expect(await log.runs.list({})).toEqual([])
      const { tasks } = await runWorkflow(needsFile, { ...options, input: { file: 'a.ts' } })
      expect(tasks).toMatchObject([{ output: 'a.ts' }])
    },
  )

  test('accepts only a valid input for a run whose input could not be recorded', async () => {
    const log = createMemoryLog()
    const options = { runId: 'r', log }
    const inputs = [{ file: 'a.ts', size: 1n }, { file: 7 }]
    for (const input of inputs) {
      const run = runWorkflow(needsFile, { ...options, input: input as never })
      await expect(run).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await log.runs.list({})).toMatchObject([{ runId: 'r', inputJson: null }])
    await runWorkflow(needsFile, { ...options, input: { file: 'a.ts' } })
    expect(await log.runs.list({})).toMatchObject([{ status: 'finished' }])
  })

  test('reports a changed schema when the input of a run no longer matches', async () => {
    const log = createMemoryLog()
    const options = { runId: 'r', log }
    const other = createSmithers({ input: z.object({ name: z.string() }) })
    const needsName = other.smithers(() => (
      <Workflow name="other">
        <Task id="fail">
          {() => {
            throw new Error('not yet')
          }}
        </Task>
      </Workflow>
    ))
    const run = runWorkflow(needsName, { ...options, input: { name: 'x' } })
    await expect(run).rejects.toThrow('not yet')
    await expect(runWorkflow(needsFile, options)).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining("no longer matches the workflow's schema: file:"),
    })
  })

  test('fails a loop that reaches maxIterations, if onMaxIterations says so', async () => {
    const workflow = smithers((ctx) => (
      <Workflow name="endless">
        <Loop
          id="again"
          until={ctx.outputs.note?.text === 'done'}
          maxIterations={2}
          onMaxIterations="fail"
        >
          <Task id="try" output="note">
            {{ text: 'not yet' }}
          </Task>
        </Loop>
      </Workflow>
    ))
    await expect(runWorkflow(workflow)).rejects.toMatchObject({
      code: 'TASK_FAILED',
      message: expect.stringContaining('Loop "again" did not finish within 2 iterations'),
    })
  })
})

function circular(): Record<string, unknown> {
  const value: { text: string; self?: unknown } = { text: 'round' }
  value.self = value
  return value
}

import { runWorkflow, Task, type WorkflowNode } from '@smithers/workflow'
import { describe, expect, test } from 'vitest'
import { circular, type Context, nothing, runThenMend, notes } from '../fixtures/run-then-mend.tsx'

const { Loop, outputs, Parallel, Sequence, smithers, Workflow } = notes
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

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

import { describe, expect, test } from 'vitest'
import {
  createSmithers,
  Loop,
  Parallel,
  runTask,
  runWorkflow,
  Sequence,
  Task,
  type WorkflowNode,
} from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, smithers } = createSmithers({})

/** Runs a workflow and returns how many tasks ran, with the error if it failed. */
async function run(
  children: (task: WorkflowNode) => unknown,
  options: object = {},
): Promise<{ readonly ran: number; readonly error: unknown }> {
  let ran = 0
  const task = (
    <Task id="work">
      {() => {
        ran += 1
      }}
    </Task>
  )
  const workflow = smithers(() => (
    <Workflow name="properties">{children(task) as WorkflowNode}</Workflow>
  ))
  const error: unknown = await runWorkflow(workflow, options).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { ran, error }
}

describe('a tag', () => {
  // A misspelt limit that is ignored is no limit.
  test.each<[tag: string, children: (task: WorkflowNode) => unknown, message: string]>([
    [
      'Task',
      () => Task({ id: 'a', retry: 3, children: () => {} } as never),
      '<Task id="a"> has no property "retry". Its properties are id, output, agent, tools,',
    ],
    [
      'Parallel',
      (task) => Parallel({ concurrency: 1, children: task } as never),
      '<Parallel> has no property "concurrency". Its properties are maxConcurrency, children.',
    ],
    [
      'Loop',
      (task) => Loop({ until: true, max: 1, children: task } as never),
      '<Loop> has no property "max".',
    ],
    [
      'Sequence',
      (task) => Sequence({ id: 'a', children: task } as never),
      '<Sequence id="a"> has no property "id".',
    ],
    [
      'a sequence in a parallel group',
      (task) => Parallel({ children: Sequence({ id: 'a', children: task } as never) }),
      '<Sequence id="a"> has no property "id".',
    ],
  ])('refuses properties that %s does not have', async (_tag, children, message) => {
    const { ran, error } = await run(children)
    expect(error).toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining(message),
    })
    expect(ran).toBe(0)
  })

  test.each<[what: string, children: (task: WorkflowNode) => unknown, message: string]>([
    [
      'until that is a function',
      (task) => Loop({ until: (() => true) as never, children: task }),
      '<Loop until> must be true or false, got a function.',
    ],
    [
      'until that is a promise',
      (task) => Loop({ until: Promise.resolve(true) as never, children: task }),
      '<Loop until> must be true or false, got a Promise.',
    ],
    [
      'onMaxIterations that is misspelt',
      (task) => Loop({ until: true, onMaxIterations: 'throw' as never, children: task }),
      "<Loop onMaxIterations> must be 'continue' or 'fail', got \"throw\".",
    ],
    [
      'dependsOn that is a text',
      () => Task({ id: 'a', dependsOn: 'work' as never, children: () => {} }),
      '<Task id="a" dependsOn> must be a list, got a string.',
    ],
    [
      'tools that are a list',
      () => Task({ id: 'a', tools: [] as never, children: () => {} }),
      '<Task id="a" tools> must be an object of tools by name, got a list.',
    ],
    [
      'an agent whose tools are a list',
      () => Task({ id: 'a', agent: { generate: () => {}, tools: [] } as never, children: 'x' }),
      '<Task id="a" agent> has tools that are not an object of tools by name.',
    ],
  ])('refuses %s', async (_what, children, message) => {
    const { ran, error } = await run(children)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
    expect(ran).toBe(0)
  })

  test('accepts a key', async () => {
    const props = { key: 'a', until: true }
    expect(await run((task) => Loop({ ...props, children: task }))).toEqual({
      ran: 1,
      error: undefined,
    })
  })
})

describe('runWorkflow', () => {
  test.each(['timeoutMs', 'abortSignal', 'attempt', 'nodeId', 'iteration', 'lineage', 'retries'])(
    'refuses the option %s, which it does not have',
    async (name) => {
      const { ran, error } = await run((task) => task, { [name]: 1 })
      expect(error).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`runWorkflow has no option "${name}". Its options are`),
      })
      expect(ran).toBe(0)
    },
  )

  test('accepts options that are undefined', async () => {
    expect(await run((task) => task, { timeoutMs: undefined })).toMatchObject({ ran: 1 })
  })
})

describe('runTask', () => {
  test.each(['abortSignal', 'lineage', 'maxTurns'])(
    'refuses the option %s, which it does not have',
    async (name) => {
      const { agent, prompts } = scriptedAgent({}, ['done'])
      await expect(runTask({ agent, prompt: 'Go.', [name]: 1 })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`runTask has no option "${name}".`),
      })
      expect(prompts).toEqual([])
    },
  )
})

import { ToolLoopAgent } from 'ai'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  createSmithers,
  runTask,
  runWorkflow,
  Task,
  type TaskAgent,
  type WorkflowElement,
} from '@smithers/workflow'

const {
  smithers,
  Workflow,
  Task: Typed,
  outputs,
} = createSmithers({
  input: z.object({ file: z.string(), depth: z.number().default(1) }),
  review: z.object({ issues: z.array(z.string()) }),
})

test('the input and the outputs have the types of their schemas', async () => {
  const workflow = smithers((ctx) => {
    expectTypeOf(ctx.input).toEqualTypeOf<{ file: string; depth: number }>()
    expectTypeOf(ctx.outputs.review).toEqualTypeOf<{ issues: string[] } | undefined>()
    expectTypeOf(ctx.output(outputs.review)).toEqualTypeOf<{ issues: string[] } | undefined>()
    return Workflow({ name: 'types' })
  })
  const result = await runWorkflow(workflow, { input: { file: 'a.ts' } })
  expectTypeOf(result.outputs.review).toEqualTypeOf<{ issues: string[] } | undefined>()
  // @ts-expect-error -- file is a string.
  await runWorkflow(workflow, { input: { file: 1 } })
  // @ts-expect-error -- the option does not exist.
  await runWorkflow(workflow, { maxOutput: 1 })
})

test('a task takes only declared outputs', () => {
  expectTypeOf(
    Typed({ id: 'a', output: 'review', children: () => ({ issues: [] }) }),
  ).toExtend<WorkflowElement>()
  Typed({ id: 'a', output: outputs.review, children: { issues: [] } })
  // @ts-expect-error -- not declared.
  Typed({ id: 'a', output: 'nope', children: () => {} })
  // @ts-expect-error -- the input is no output.
  Typed({ id: 'a', output: 'input', children: () => {} })
  // @ts-expect-error -- a task needs an id.
  Task({ children: () => {} })
})

test('a task without an agent makes what its output reads', () => {
  const issues = { issues: ['one'] }
  Typed({ id: 'a', output: outputs.review, children: issues })
  expectTypeOf(
    Typed({ id: 'a', output: outputs.review, children: () => issues }),
  ).toExtend<WorkflowElement>()
  Typed({ id: 'a', output: 'review', children: async ({ signal }) => (signal.aborted, issues) })
  // @ts-expect-error -- issues is an array.
  Typed({ id: 'a', output: outputs.review, children: () => ({ issues: 5 }) })
  // @ts-expect-error -- the same by name, and later.
  Typed({ id: 'a', output: 'review', children: async () => ({ issues: 5 }) })
  // @ts-expect-error -- the same as a value.
  Typed({ id: 'a', output: outputs.review, children: { issues: 5 } })
  // @ts-expect-error -- nothing is made.
  Typed({ id: 'a', output: outputs.review, children: () => {} })
  // @ts-expect-error -- the package's own Task knows the reference too.
  Task({ id: 'a', output: outputs.review, children: () => ({ issues: 5 }) })
  // Nothing is known of what has no output.
  Typed({ id: 'a', children: ({ attempt }) => attempt })

  const transformed = createSmithers({ n: z.object({ n: z.string().transform(Number) }) })
  transformed.Task({ id: 'a', output: transformed.outputs.n, children: () => ({ n: '5' }) })
  // @ts-expect-error -- the schema reads a text.
  transformed.Task({ id: 'a', output: transformed.outputs.n, children: () => ({ n: 5 }) })
})

test('a task with an agent holds a prompt, whatever its output', () => {
  const agent = {} as TaskAgent
  Typed({ id: 'a', output: outputs.review, agent, children: 'Review it.' })
  expectTypeOf(
    Typed({ id: 'a', output: outputs.review, agent, children: () => 'Review it.' }),
  ).toExtend<WorkflowElement>()
  const mayBe = [agent].at(0)
  Typed({ id: 'a', output: 'review', agent: mayBe, children: 'Go.' })
})

test('an agent of the AI SDK is an agent of a task', () => {
  expectTypeOf<ToolLoopAgent>().toExtend<TaskAgent>()
})

test('runTask returns what its schema returns, else a text', async () => {
  const agent = {} as TaskAgent
  expectTypeOf((await runTask({ agent, prompt: '' })).output).toEqualTypeOf<string>()
  const output = z.object({ n: z.string().transform(Number) })
  expectTypeOf((await runTask({ agent, prompt: '', output })).output).toEqualTypeOf<{ n: number }>()
})

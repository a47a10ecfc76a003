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
  // @ts-expect-error -- there is no such option.
  await runWorkflow(workflow, { maxOutput: 1 })
})

test('a task takes only declared outputs', () => {
  expectTypeOf(Typed({ id: 'a', output: 'review', children: () => {} })).toExtend<WorkflowElement>()
  Typed({ id: 'a', output: outputs.review, children: () => {} })
  // @ts-expect-error -- not declared.
  Typed({ id: 'a', output: 'nope', children: () => {} })
  // @ts-expect-error -- the input is no output.
  Typed({ id: 'a', output: 'input', children: () => {} })
  // @ts-expect-error -- a task needs an id.
  Task({ children: () => {} })
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

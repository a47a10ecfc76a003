import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSmithers, runWorkflow, Task, type WorkflowNode } from '@smithers/workflow'
import { jsxDEV } from '@smithers/workflow/jsx-dev-runtime'
import { Fragment, jsx, jsxs } from '@smithers/workflow/jsx-runtime'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const { Workflow, Sequence, smithers, outputs } = createSmithers({ note: z.string() })

/** The ids of the tasks that a tree asks for, in the order in which they run. */
async function tasksOf(children: WorkflowNode): Promise<string[]> {
  const workflow = smithers(() => <Workflow name="tree">{children}</Workflow>)
  return (await runWorkflow(workflow)).tasks.map(({ id }) => id)
}

const Step = ({ id }: { id: string }) => <Task id={id}>{() => {}}</Task>

describe('the JSX runtime', () => {
  test('dissolves fragments and lists, and ignores false', async () => {
    expect(
      await tasksOf(
        <>
          <Step id="a" />
          {false}
          {null}
          {['b', 'c'].map((id) => (
            <Step key={id} id={id} />
          ))}
          <>
            <Step id="d" />
          </>
        </>,
      ),
    ).toEqual(['a', 'b', 'c', 'd'])
  })

  test('calls components with their properties and children, however deep', async () => {
    const Twice = ({ name, children }: { name: string; children?: WorkflowNode }) => (
      <Sequence>
        <Step id={`${name}-1`} />
        {children}
        <Step id={`${name}-2`} />
      </Sequence>
    )
    expect(
      await tasksOf(
        <Twice name="outer">
          <Twice name="inner" />
        </Twice>,
      ),
    ).toEqual(['outer-1', 'inner-1', 'inner-2', 'outer-2'])
  })

  test('serves compiled code, also in development mode', async () => {
    const step = jsx(Step, { id: 'a' })
    const list = jsxs(Fragment, { children: [step, jsxDEV(Step, { id: 'b' })] })
    expect(await tasksOf(list)).toEqual(['a', 'b'])
  })

  test('joins the text and the values of a prompt as they are written', async () => {
    const { agent, prompts } = scriptedAgent({}, ['done'])
    const file = 'src/a.ts'
    const workflow = smithers(() => (
      <Workflow name="prompt">
        <Task id="a" agent={agent}>
          Fix {file} in at most {3} steps.
        </Task>
      </Workflow>
    ))
    await runWorkflow(workflow)
    expect(prompts).toEqual(['Fix src/a.ts in at most 3 steps.'])
  })

  test('calls a prompt function when the task begins', async () => {
    const { agent, prompts } = scriptedAgent({}, ['done', 'done'])
    const workflow = smithers(() => (
      <Workflow name="prompt">
        <Task id="a" agent={agent} output={outputs.note}>
          {({ nodeId, attempt }) => `This is attempt ${attempt} of ${nodeId}.`}
        </Task>
      </Workflow>
    ))
    expect((await runWorkflow(workflow)).outputs.note).toBe('done')
    expect(prompts[0]).toMatch(/^This is attempt 1 of a\./)
  })
})

describe('createSmithers', () => {
  test('shows a tree only finished outputs, and renders it again when one that it read changes', async () => {
    const rendered: (string | undefined)[] = []
    const workflow = smithers((ctx) => {
      rendered.push(ctx.output(outputs.note, { id: 'b' }))
      return (
        <Workflow name="rendered">
          <Task id="a" output="note">
            a
          </Task>
          <Task id="b" output="note">
            b
          </Task>
          <Task id="c" output="note">
            c
          </Task>
        </Workflow>
      )
    })
    await runWorkflow(workflow)
    // Once at the beginning, and once after the only task whose output it reads.
    expect(rendered).toEqual([undefined, 'b'])
  })

  test('does not render again for outputs that a task reads while it runs', async () => {
    let renderings = 0
    const workflow = smithers((ctx) => {
      renderings += 1
      return (
        <Workflow name="lazy">
          {['a', 'b', 'c'].map((id) => (
            <Task key={id} id={id} output={outputs.note}>
              {() => `${ctx.outputs.note ?? ''}${id}`}
            </Task>
          ))}
        </Workflow>
      )
    })
    const { tasks } = await runWorkflow(workflow)
    expect(tasks.map(({ output }) => output)).toEqual(['a', 'ab', 'abc'])
    expect(renderings).toBe(1)
  })

  test('adds tasks for the results of earlier ones', async () => {
    const {
      Workflow: Root,
      Task: Each,
      Parallel,
      smithers: define,
      outputs: made,
    } = createSmithers({
      files: z.array(z.string()),
      size: z.number(),
    })
    const workflow = define((ctx) => (
      <Root name="found">
        <Each id="files" output={made.files}>
          {() => ['a', 'bb']}
        </Each>
        <Parallel>
          {ctx.outputs.files?.map((file) => (
            <Each key={file} id={`size-${file}`} output={made.size}>
              {() => file.length}
            </Each>
          ))}
        </Parallel>
        <Each id="sum" output={made.size}>
          {() =>
            (ctx.outputs.files ?? []).reduce(
              (sum, file) => sum + (ctx.output(made.size, { id: `size-${file}` }) ?? 0),
              0,
            )
          }
        </Each>
      </Root>
    ))
    expect((await runWorkflow(workflow)).outputs.size).toBe(3)
  })

  test('refuses a value that is not a schema', () => {
    expect(() => createSmithers({ note: {} as z.ZodType })).toThrow(
      expect.objectContaining({
        code: 'WORKFLOW_INVALID',
        message: 'createSmithers: "note" must be a Zod 4 schema, got object.',
      }),
    )
  })
})

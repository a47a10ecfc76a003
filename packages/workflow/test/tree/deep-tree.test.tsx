import { describe, expect, test } from 'vitest'
import {
  createSmithers,
  Loop,
  Parallel,
  runWorkflow,
  Sequence,
  Task,
  type WorkflowElement,
} from '@smithers/workflow'

const { Workflow, smithers } = createSmithers({})

function wrapped(
  depth: number,
  wrap: (inner: WorkflowElement, level: number) => WorkflowElement,
): WorkflowElement {
  let inner = Task({ id: 'innermost', children: () => 'reached' })
  for (let level = 0; level < depth; level += 1) inner = wrap(inner, level)
  return inner
}

async function tasksOf(tree: WorkflowElement): Promise<string[]> {
  const workflow = smithers(() => <Workflow name="deep">{tree}</Workflow>)
  return (await runWorkflow(workflow)).tasks.map(({ id }) => id)
}

describe('a deep tree', () => {
  test('of 20 000 nested sequences runs', async () => {
    expect(await tasksOf(wrapped(20_000, (children) => Sequence({ children })))).toEqual([
      'innermost',
    ])
  })

  test('that a component makes by calling itself runs in order', async () => {
    const Steps = ({ from, to }: { from: number; to: number }): WorkflowElement => (
      <Sequence>
        <Task id={`step-${from}`}>{() => {}}</Task>
        {from < to && <Steps from={from + 1} to={to} />}
      </Sequence>
    )
    const ids = await tasksOf(<Steps from={1} to={3000} />)
    expect(ids).toEqual(Array.from({ length: 3000 }, (_, index) => `step-${index + 1}`))
  })

  test.each<[what: string, wrap: (inner: WorkflowElement, level: number) => WorkflowElement]>([
    ['parallel groups', (children) => Parallel({ children })],
    [
      'sequences in parallel groups',
      (children, level) => (level % 2 === 0 ? Sequence({ children }) : Parallel({ children })),
    ],
    ['loops', (children, level) => Loop({ id: `loop-${level}`, until: true, children })],
  ])('of %s runs to the limit, and is refused by name beyond it', async (_what, wrap) => {
    expect(await tasksOf(wrapped(256, wrap))).toEqual(['innermost'])
    for (const depth of [300, 5000]) {
      await expect(tasksOf(wrapped(depth, wrap))).rejects.toMatchObject({
        code: 'WORKFLOW_INVALID',
        message: expect.stringContaining('nested deeper than 256 levels'),
      })
    }
  })
})

import fc from 'fast-check'
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

/** A tree of tasks, as a generator draws it. */
type Shape =
  | { readonly kind: 'task' }
  | { readonly kind: 'sequence' | 'fragment'; readonly children: readonly Shape[] }
  | { readonly kind: 'parallel'; readonly limit: number; readonly children: readonly Shape[] }
  | { readonly kind: 'loop'; readonly times: number; readonly children: readonly Shape[] }

const { shape } = fc.letrec<{ shape: Shape; children: readonly Shape[] }>((tie) => ({
  children: fc.array(tie('shape'), { maxLength: 4 }),
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant({ kind: 'task' as const }),
    fc.record({ kind: fc.constant('sequence' as const), children: tie('children') }),
    fc.record({ kind: fc.constant('fragment' as const), children: tie('children') }),
    fc.record({
      kind: fc.constant('parallel' as const),
      limit: fc.integer({ min: 1, max: 3 }),
      children: tie('children'),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      times: fc.integer({ min: 1, max: 3 }),
      children: tie('children'),
    }),
  ),
}))

/** What ran, in order: a task begins, a task ends. */
interface Trace {
  readonly began: string[]
  readonly ended: string[]
  /** The most tasks that ran at once beneath each parallel group. */
  readonly most: Map<string, number>
}

const { Workflow, smithers } = createSmithers({})

describe('the schedule', () => {
  test('runs every task of any tree once an iteration, in order, within every limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { maxLength: 4 }), async (shapes) => {
        const trace: Trace = { began: [], ended: [], most: new Map() }
        const running = new Map<string, number>()
        const limits = new Map<string, number>()
        const expected: string[] = []
        const ordered: [earlier: string[], later: string[]][] = []
        for (const each of [sequenceOf(shapes, 'root', '', 1)]) expected.push(...each)

        /** The runs that a list of shapes asks for, noting which must come before which. */
        function sequenceOf(
          list: readonly Shape[],
          at: string,
          pass: string,
          times: number,
        ): string[] {
          const all: string[] = []
          for (let time = 0; time < times; time += 1) {
            for (const [index, child] of list.entries()) {
              const here = `${at}.${index}`
              const runs = runsOf(
                child,
                here,
                times === 1 && pass === '' ? pass : `${pass}/${time}`,
              )
              ordered.push([[...all], runs])
              all.push(...runs)
            }
          }
          return all
        }

        function runsOf(each: Shape, at: string, pass: string): string[] {
          if (each.kind === 'task') return [at]
          if (each.kind === 'parallel') {
            limits.set(at, each.limit)
            return besides(each.children, at, pass)
          }
          const times = each.kind === 'loop' && hasTask(each.children) ? each.times : 1
          return sequenceOf(each.children, at, pass, times)
        }

        /** A fragment is no place of its own: in a parallel group its children run beside the others. */
        function besides(list: readonly Shape[], at: string, pass: string): string[] {
          return list.flatMap((child, index) => {
            const here = `${at}.${index}`
            return child.kind === 'fragment'
              ? besides(child.children, here, pass)
              : runsOf(child, here, pass)
          })
        }

        function elementOf(
          each: Shape,
          at: string,
          groups: readonly string[],
        ): WorkflowElement | WorkflowElement[] {
          if (each.kind === 'task') {
            return Task({
              id: at,
              children: async () => {
                trace.began.push(at)
                for (const group of groups) {
                  const now = (running.get(group) ?? 0) + 1
                  running.set(group, now)
                  trace.most.set(group, Math.max(trace.most.get(group) ?? 0, now))
                }
                // Long enough for others to begin, of a length that differs.
                for (let turn = 0; turn <= at.length % 3; turn += 1) await Promise.resolve()
                for (const group of groups) running.set(group, (running.get(group) ?? 0) - 1)
                trace.ended.push(at)
              },
            })
          }
          const inner = each.kind === 'parallel' ? [...groups, at] : groups
          const children = each.children.map((child, index) =>
            elementOf(child, `${at}.${index}`, inner),
          )
          switch (each.kind) {
            case 'parallel':
              return Parallel({ maxConcurrency: each.limit, children })
            case 'loop':
              return Loop({ id: at, until: false, maxIterations: each.times, children })
            case 'sequence':
              return Sequence({ children })
            default:
              return children.flat()
          }
        }

        const workflow = smithers(() =>
          Workflow({
            name: 'any',
            children: shapes.map((each, index) => elementOf(each, `root.${index}`, [])),
          }),
        )
        await runWorkflow(workflow)

        expect(trace.began.toSorted()).toEqual(expected.toSorted())
        for (const [group, most] of trace.most) {
          expect(most).toBeLessThanOrEqual(limits.get(group) ?? 0)
        }
        if (!containsLoop(shapes)) {
          for (const [earlier, later] of ordered) {
            for (const before of earlier) {
              for (const after of later) {
                expect(trace.began.indexOf(after)).toBeGreaterThan(trace.began.indexOf(before))
              }
            }
          }
        }
      }),
      { numRuns: 150 },
    )
  })

  test('lets a task wait for one in another branch, also in a full parallel group', async () => {
    const began: string[] = []
    const task = (id: string, dependsOn: string[] = []): WorkflowElement =>
      Task({ id, dependsOn, children: () => void began.push(id) })
    const workflow = smithers(() =>
      Workflow({
        name: 'waits',
        children: Parallel({
          maxConcurrency: 1,
          children: [
            task('a', ['c']),
            Sequence({ children: [task('b', ['a']), task('d')] }),
            task('c'),
          ],
        }),
      }),
    )
    await runWorkflow(workflow)
    expect(began).toEqual(['c', 'a', 'b', 'd'])
  })

  test('lets a task outside a loop wait until the loop is over', async () => {
    const began: string[] = []
    const task = (id: string, dependsOn: string[] = []): WorkflowElement =>
      Task({ id, dependsOn, children: () => void began.push(id) })
    const workflow = smithers((ctx) =>
      Workflow({
        name: 'after-loop',
        children: Parallel({
          children: [
            task('after', ['inside']),
            Loop({ until: ctx.iteration === 2, children: task('inside') }),
          ],
        }),
      }),
    )
    await runWorkflow(workflow)
    expect(began).toEqual(['inside', 'inside', 'inside', 'after'])
  })

  test('ends a loop without tasks', async () => {
    const workflow = smithers(() =>
      Workflow({
        name: 'empty',
        children: [Loop({ until: false, maxIterations: Infinity, children: Sequence({}) })],
      }),
    )
    expect((await runWorkflow(workflow)).tasks).toEqual([])
  })
})

function hasTask(shapes: readonly Shape[]): boolean {
  return shapes.some((each) => each.kind === 'task' || hasTask(each.children))
}

function containsLoop(shapes: readonly Shape[]): boolean {
  return shapes.some(
    (each) => each.kind === 'loop' || (each.kind !== 'task' && containsLoop(each.children)),
  )
}

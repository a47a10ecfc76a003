// What the scheduler costs a task: tasks that do nothing, in a tree of N, with the store in memory and in SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import {
  createSmithers,
  Loop,
  Parallel,
  runWorkflow,
  type WorkflowDefinition,
} from '@smithers/workflow'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { z } from 'zod'

const { Workflow, Task, smithers, outputs } = createSmithers({ n: z.object({ n: z.number() }) })

const task = (n: number, prefix = 'task'): ReturnType<typeof Task> =>
  Task({ id: `${prefix}-${n}`, output: outputs.n, children: { n } })

const shapes = {
  // One after another; no output is read, so the tree is rendered once.
  sequence: (count: number) =>
    smithers(() =>
      Workflow({ name: 'sequence', children: Array.from({ length: count }, (_, n) => task(n)) }),
    ),
  parallel: (count: number) =>
    smithers(() =>
      Workflow({
        name: 'parallel',
        children: Parallel({ children: Array.from({ length: count }, (_, n) => task(n)) }),
      }),
    ),
  // One task, count times; rendered twice an iteration.
  loop: (count: number) =>
    smithers((ctx) =>
      Workflow({
        name: 'loop',
        children: Loop({
          until: ctx.outputs.n?.n === count - 1,
          maxIterations: count,
          children: Task({ id: 'task', output: outputs.n, children: { n: ctx.iteration } }),
        }),
      }),
    ),
  // Each task reads the one before when it runs: the tree is rendered once.
  lazy: (count: number) =>
    smithers((ctx) =>
      Workflow({
        name: 'lazy',
        children: Array.from({ length: count }, (_, n) =>
          Task({
            id: `task-${n}`,
            output: outputs.n,
            children: () => ({ n: (ctx.output(outputs.n, { id: `task-${n - 1}` })?.n ?? -1) + 1 }),
          }),
        ),
      }),
    ),
  // The worst case: each task reads the one before in the tree, so all of it is rendered again after each.
  chained: (count: number) =>
    smithers((ctx) =>
      Workflow({
        name: 'chained',
        children: Array.from({ length: count }, (_, n) => {
          const before = ctx.output(outputs.n, { id: `task-${n - 1}` })
          return Task({
            id: `task-${n}`,
            output: outputs.n,
            children: { n: (before?.n ?? -1) + 1 },
          })
        }),
      }),
    ),
}

const counts = [125, 500, 2000]
const repetitions = 3
/** Shapes that take longer are not repeated: their figures vary less than those of short ones. */
const longEnoughMs = 1500
const directory = mkdtempSync(join(tmpdir(), 'smithers-bench-'))
console.log('Microseconds a task, the best of three runs, or one long run')
printRow(['store', 'shape', ...counts.map((count) => `${count} tasks`), `${counts.at(-1)} : 125`])
for (const storage of ['memory', 'sqlite'] as const) {
  for (const [shape, workflowOf] of Object.entries(shapes)) {
    await timePerTask(workflowOf(50), storage, 50)
    const perTask: number[] = []
    for (const count of counts) perTask.push(await timePerTask(workflowOf(count), storage, count))
    const [smallest = 0] = perTask
    const growth = `× ${((perTask.at(-1) ?? 0) / smallest).toFixed(2)}`
    printRow([storage, shape, ...perTask.map(micro), growth])
  }
}
rmSync(directory, { recursive: true })

function printRow(cells: readonly string[]): void {
  console.log(cells.map((cell) => cell.padStart(11)).join(''))
}

/** Milliseconds a task, the best of a few runs. */
async function timePerTask(
  workflow: WorkflowDefinition,
  storage: 'memory' | 'sqlite',
  count: number,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  const beganAt = performance.now()
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    if (performance.now() - beganAt > longEnoughMs) break
    const path = join(directory, `${storage}-${count}-${repetition}-${Math.random()}.db`)
    const sqlite = storage === 'sqlite'
    const log = sqlite ? createSqliteLog({ path }) : createMemoryLog()
    const startedAt = performance.now()
    const { tasks } = await runWorkflow(workflow, { log, runId: 'run' })
    best = Math.min(best, (performance.now() - startedAt) / count)
    if (tasks.length !== count) throw new Error(`${tasks.length} tasks of ${count} ran.`)
    await log.close()
  }
  return best
}

function micro(milliseconds = 0): string {
  return (milliseconds * 1000).toFixed(0)
}

import { SmithersError, type ToolRunOptions } from '@smithers/tool-core'
import type { WorkflowDefinition } from '../define/workflow-definition.ts'
import type { WorkflowEvent } from '../events/workflow-event.ts'
import { buildPlan } from '../schedule/build-plan.ts'
import { Plan } from '../schedule/plan.ts'
import type { PlannedLoop, PlannedTask, PlanNode } from '../schedule/plan-node.ts'
import { isFatal } from '../errors/fatal-error.ts'
import { isPaused } from '../errors/paused.ts'
import { type FinishedTask, runAttempts } from '../task/run-attempts.ts'
import { readTree } from '../tree/read-tree.ts'
import type { WorkflowTree } from '../tree/tree-node.ts'
import { createWorkflowContext, type WorkflowContext } from '../define/workflow-context.ts'
import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { RunLease } from './run-lease.ts'
import { finishTask, type RunProgress } from './restore-run.ts'

/** Everything that drives a run. */
export interface WorkflowRunParts {
  readonly workflow: WorkflowDefinition
  readonly input: unknown
  readonly lease: RunLease
  readonly progress: RunProgress
  readonly toolOptions: ToolRunOptions
  readonly allow: readonly string[]
  readonly backoffMs: number
  /** Ends the run. Also aborted here after an error that makes continuing pointless. */
  readonly ending: AbortController
  readonly emit: (event: WorkflowEvent) => void
  /** Called with the name of the workflow, which its first rendering tells. */
  readonly onName: (name: string) => void
}

/** Drives one run: render, start the tasks that may start, wait for one to end, repeat. */
export class WorkflowRun {
  readonly #parts: WorkflowRunParts
  readonly #running = new Map<string, PlannedTask>()
  readonly #ended: (() => void)[] = []
  #wake: (() => void) | undefined
  #plan: Plan | undefined
  #name: string | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(parts: WorkflowRunParts) {
    this.#parts = parts
  }

  /** Resolves when every task has finished. Rejects when one has failed and the tasks running beside it have ended. */
  async finish(): Promise<void> {
    const { signal } = this.#parts.ending
    for (;;) {
      if (signal.aborted) this.#fail(signal.reason)
      if (this.#failure === undefined) {
        try {
          await this.#proceed()
        } catch (error) {
          this.#fail(error)
        }
      }
      if (this.#running.size === 0) {
        if (this.#failure !== undefined) throw this.#failure.error
        if (this.#plan?.done === true) return
        this.#fail(this.#stranded())
        continue
      }
      await this.#nextEnd()
    }
  }

  /** Starts every task that may start now. */
  async #proceed(): Promise<void> {
    for (;;) {
      const plan = (this.#plan ??= await this.#render())
      const loop = plan.takeCompletedIteration()
      if (loop !== null) {
        await this.#completeIteration(plan, loop)
        continue
      }
      for (let task = plan.takeReady(); task !== null; task = plan.takeReady()) this.#start(task)
      return
    }
  }

  async #render(): Promise<Plan> {
    const { workflow, progress, input, lease } = this.#parts
    progress.outputs.forgetReads()
    const trees = new Map<number, WorkflowTree>()
    const treeOf = (iteration: number): WorkflowTree => {
      let tree = trees.get(iteration)
      if (tree === undefined) {
        const context = createWorkflowContext({
          runId: lease.runId,
          input,
          iteration,
          outputNames: [...workflow.outputs.keys()],
          finished: progress.outputs,
        })
        tree = progress.outputs.notingReads(() =>
          readTree(rendered(workflow, context), workflow.outputs),
        )
        trees.set(iteration, tree)
      }
      return tree
    }
    const { name } = treeOf(0)
    if (name !== this.#name) {
      this.#name = name
      this.#parts.onName(name)
      await lease.nameWorkflow(name)
    }
    const { finished, finishedIds } = progress
    return new Plan(buildPlan(treeOf, progress.loops), {
      finished,
      finishedIds,
      running: this.#running,
    })
  }

  /** Starts the next iteration of a loop whose body has finished, or finishes the loop. */
  async #completeIteration(plan: Plan, planned: PlannedLoop): Promise<void> {
    const { loop, loopId, iteration, body } = planned
    const { lease, progress, emit } = this.#parts
    const last = iteration + 1 >= loop.maxIterations
    // Without tasks nothing can change, so the loop is over.
    if (!loop.until && !last && body !== null && hasTask(body)) {
      const next = { iteration: iteration + 1, finished: false }
      await lease.saveLoop({ loopId, ...next })
      progress.loops.set(loopId, next)
      emit({ type: 'loop-iteration', runId: lease.runId, loopId, iteration: next.iteration })
      this.#plan = undefined
      return
    }
    if (!loop.until && last && loop.onMaxIterations === 'fail') {
      throw new SmithersError(
        'TASK_FAILED',
        `Loop "${loop.id}" did not finish within ${loop.maxIterations} iterations (maxIterations). Raise the limit, or find out why "until" stays false.`,
        { details: { loopId, maxIterations: loop.maxIterations } },
      )
    }
    await lease.saveLoop({ loopId, iteration, finished: true })
    progress.loops.set(loopId, { iteration, finished: true })
    // If the plan was replaced meanwhile, the new one already knows that the loop has finished.
    if (this.#plan === plan) plan.finishLoop(planned)
  }

  #start(planned: PlannedTask): void {
    const { lease, progress, toolOptions, allow, backoffMs, ending, emit } = this.#parts
    const { task, nodeId, iteration, key } = planned
    const { runId } = lease
    const address = { runId, nodeId, iteration, id: task.id }
    const outputName = task.output?.name ?? null
    this.#running.set(key, planned)
    emit({ type: 'task-start', ...address })
    const end = (settle: () => void): void => {
      this.#ended.push(() => {
        this.#running.delete(key)
        settle()
      })
      this.#wake?.()
    }
    runAttempts(
      {
        runId,
        nodeId,
        iteration,
        firstAttempt: (progress.attempts.get(key) ?? 0) + 1,
        schema: task.output?.schema ?? null,
        retries: task.retries,
        backoffMs,
        timeoutMs: task.timeoutMs,
        signal: ending.signal,
        allow,
        toolOptions,
        work: task,
      },
      lease.journalOf({ nodeId, iteration, taskId: task.id, outputName }),
      emit,
    ).then(
      ({ value, attempt }: FinishedTask) =>
        end(() => {
          if (finishTask(progress, { ...address, name: outputName, value, attempt })) {
            this.#plan = undefined
          }
          this.#plan?.finishTask(task.id, key)
          emit({ type: 'task-end', ...address, output: value })
        }),
      (error: unknown) =>
        end(() => {
          emit({ type: 'task-error', ...address, error })
          this.#fail(error)
        }),
    )
  }

  /** Starts no further task. Running tasks may finish, unless the run itself is over. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    // A run that waits for an approval is not over: tasks that need none continue.
    if (isFatal(error) && !isPaused(error)) this.#parts.ending.abort(error)
  }

  async #nextEnd(): Promise<void> {
    if (this.#ended.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
    for (const settle of this.#ended.splice(0)) settle()
  }

  #stranded(): SmithersError {
    const [first] = this.#plan?.strandedTasks() ?? []
    if (first === undefined)
      return invalidWorkflow('No task can start, and the workflow has not finished.')
    return invalidWorkflow(
      `Task "${first.id}" waits for "${first.missing}", but the workflow has no task with this id. Correct dependsOn, or render that task.`,
      first,
    )
  }
}

function hasTask(node: PlanNode): boolean {
  if (node.kind === 'task') return true
  if (node.kind === 'loop') return node.body !== null && hasTask(node.body)
  return node.children.some(hasTask)
}

function rendered(
  workflow: WorkflowDefinition,
  context: ReturnType<typeof createWorkflowContext>,
): ReturnType<WorkflowDefinition['render']> {
  try {
    return workflow.render(context as WorkflowContext<never, never>)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SmithersError('WORKFLOW_INVALID', `The workflow could not be rendered: ${reason}`, {
      cause: error,
      effect: 'none',
    })
  }
}

import type { AgentMessage, TaskAgent } from '../task/agent.ts'
import type { TaskFunction, TaskScope } from '../task/task-scope.ts'
import { createElement, type WorkflowElement, type WorkflowNode } from './element.ts'
import type { OutputReference } from './output-reference.ts'

/** Properties of {@link Workflow}. */
export interface WorkflowProps {
  /** Shown by `smithers runs` and in events. */
  readonly name: string
  /** Run one after another. */
  readonly children?: WorkflowNode
}

/** The root of the tree. Its children run one after another. */
export function Workflow(props: WorkflowProps): WorkflowElement {
  return createElement('workflow', props)
}

/** Properties that every {@link Task} has. */
export interface CommonTaskProps {
  /** Unique in the workflow; `nodeId` of the task's rows in the log. */
  readonly id: string
  /**
   * Tools in addition to the agent's own; on a name clash, these win. A valid call of a tool that ends the task, such as
   * `response`, is the output.
   */
  readonly tools?: Readonly<Record<string, unknown>>
  /** A conversation that the prompt continues. */
  readonly messages?: readonly AgentMessage[]
  /** How often the task is tried again after a failure. @default 0 */
  readonly retries?: number
  /** Time limit of one attempt, in milliseconds. @default none */
  readonly timeoutMs?: number
  /** How often the agent may repair an answer that does not match the schema, per attempt. @default 2 */
  readonly repairs?: number
  /** Ids of tasks anywhere in the tree that must finish before this one starts. */
  readonly dependsOn?: readonly string[]
}

/** Properties of a {@link Task} done by an agent. */
export interface AgentTaskProps<Output = unknown> extends CommonTaskProps {
  /** The output's name or `outputs.NAME`. Its schema validates the agent's answer, which is recorded under its name. */
  readonly output?: OutputReference<Output> | string | undefined
  /** Does the task. */
  readonly agent: TaskAgent | undefined
  /** The prompt, or a function that returns it when the attempt starts. */
  readonly children?: TaskContent
}

/** Properties of a {@link Task} without an agent. `Result` is what it must produce. */
export interface ComputedTaskProps<Output = unknown, Result = unknown> extends CommonTaskProps {
  /** The output's name or `outputs.NAME`. Its schema validates the result, which is recorded under its name. */
  readonly output?: OutputReference<Output, Result> | string | undefined
  readonly agent?: undefined
  /** The output itself, or a function that returns it. */
  readonly children?: ComputedContent<Result>
}

/** Properties of {@link Task}. */
export type TaskProps<Output = unknown, Result = unknown> =
  | AgentTaskProps<Output>
  | ComputedTaskProps<Output, Result>

/** Content of a {@link Task} whose output type is unknown. */
export type TaskContent = string | number | object | readonly (string | number)[] | TaskFunction

/** Content of a {@link Task} that produces `Result`: the value, text in parts, or a function that returns it. */
export type ComputedContent<Result> = unknown extends Result
  ? TaskContent
  :
      | Result
      | (string extends Result ? readonly (string | number)[] : never)
      | ((scope: TaskScope) => Result | PromiseLike<Result>)

/** One task: an agent with a prompt, or a function. */
export function Task<Output, Result>(
  props: AgentTaskProps<Output> | ComputedTaskProps<Output, Result>,
): WorkflowElement {
  return createElement('task', props)
}

/** Properties of {@link Sequence}. */
export interface SequenceProps {
  readonly children?: WorkflowNode
}

/** Its children run one after another. */
export function Sequence(props: SequenceProps): WorkflowElement {
  return createElement('sequence', props)
}

/** Properties of {@link Parallel}. */
export interface ParallelProps {
  /** Maximum number of tasks below it that run at once. @default 4 */
  readonly maxConcurrency?: number
  readonly children?: WorkflowNode
}

/** Its children run at the same time. */
export function Parallel(props: ParallelProps): WorkflowElement {
  return createElement('parallel', props)
}

/** Properties of {@link Loop}. */
export interface LoopProps {
  /** Names the loop's progress in the log. Required when the workflow has several loops. @default 'loop' */
  readonly id?: string
  /** Read each time the children have finished; true ends the loop. The children run at least once. */
  readonly until: boolean | null | undefined
  /** @default 10 */
  readonly maxIterations?: number
  /** What happens when `until` is still false after the last iteration. @default 'continue' */
  readonly onMaxIterations?: 'continue' | 'fail'
  /** Run one after another, repeatedly. Inside, `ctx.iteration` is this loop's iteration. */
  readonly children?: WorkflowNode
}

/** Repeats its children until a condition holds. */
export function Loop(props: LoopProps): WorkflowElement {
  return createElement('loop', props)
}

export {
  createSmithers,
  type GivenInput,
  type GivenOutput,
  type MadeFor,
  type OutputReferences,
  type OutputValues,
  type ParsedInput,
  type Smithers,
  type WorkflowDefinition,
  type WorkflowSchemas,
} from './create-smithers.ts'
export {
  type AgentTaskProps,
  type CommonTaskProps,
  type ComputedTaskProps,
  Loop,
  type LoopProps,
  type MadeContent,
  Parallel,
  type ParallelProps,
  Sequence,
  type SequenceProps,
  Task,
  type TaskContent,
  type TaskFunction,
  type TaskProps,
  type TaskScope,
  Workflow,
  type WorkflowProps,
} from './tree/components.ts'
export type { Component, WorkflowElement, WorkflowNode } from './tree/element.ts'
export type { OutputReference } from './tree/output-reference.ts'
export type { OutputPlace } from './tree/finished-outputs.ts'
export type { WorkflowContext } from './tree/workflow-context.ts'
export { runWorkflow } from './run/run-workflow.ts'
export type { FinishedTaskResult, RunWorkflowOptions, WorkflowResult } from './run/run-options.ts'
export {
  runTask,
  type RunTaskOptions,
  type TaskResult,
  type TaskToolOptions,
} from './task/run-task.ts'
export type { AgentAnswer, AgentMessage, TaskAgent } from './task/agent.ts'
export type { TaskEvent, TaskPlace, WorkflowEvent } from './events.ts'
export { createMemoryRunStore } from './store/memory-run-store.ts'
export type {
  AttemptEnd,
  AttemptRow,
  AttemptStart,
  ClaimRequest,
  ClaimResult,
  Fenced,
  LoopRow,
  RunEnd,
  RunRow,
  RunStatus,
  RunStore,
  TaskRow,
} from './store/run-store.ts'

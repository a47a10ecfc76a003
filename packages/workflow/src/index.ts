export {
  createSmithers,
  type GivenInput,
  type GivenOutput,
  type ResultFor,
  type OutputReferences,
  type OutputValues,
  type ParsedInput,
  type Smithers,
  type WorkflowSchemas,
} from './define/create-smithers.ts'
export {
  type AgentTaskProps,
  type CommonTaskProps,
  type ComputedTaskProps,
  Loop,
  type LoopProps,
  type ComputedContent,
  Parallel,
  type ParallelProps,
  Sequence,
  type SequenceProps,
  Task,
  type TaskContent,
  type TaskProps,
  Workflow,
  type WorkflowProps,
} from './tree/components.ts'
export type { Component, WorkflowElement, WorkflowNode } from './tree/element.ts'
export type { OutputReference } from './tree/output-reference.ts'
export type { OutputSelector } from './define/finished-outputs.ts'
export type { WorkflowDefinition } from './define/workflow-definition.ts'
export type { WorkflowContext } from './define/workflow-context.ts'
export { runWorkflow } from './run/run-workflow.ts'
export type { ProgramFiles } from './run/program-files.ts'
export type { FinishedTaskResult, RunWorkflowOptions, WorkflowResult } from './run/run-options.ts'
export { runTask, type RunTaskOptions, type TaskResult } from './task/run-task.ts'
export type { TaskToolOptions } from './task/tool-options.ts'
export type { TaskFunction, TaskScope } from './task/task-scope.ts'
export type { AgentAnswer, AgentMessage, TaskAgent } from './task/agent.ts'
export type { TaskEvent, TaskAddress, WorkflowEvent } from './events/workflow-event.ts'

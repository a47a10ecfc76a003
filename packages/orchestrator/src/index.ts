// The names that the documented programs import from one package; each is another package's.
export {
  createToolContext,
  defineTool,
  type DefinedTool,
  getDefinedToolMetadata,
  getToolContext,
  isSmithersError,
  runWithToolContext,
  SmithersError,
  type ToolContext,
  toolset,
} from '@smithers/tool-core'
export { createMemoryLog } from '@smithers/tool-core/memory-log'
export { createSqliteLog, defaultLogPath } from '@smithers/log-sqlite'
export {
  createSmithers,
  Loop,
  Parallel,
  runTask,
  type RunTaskOptions,
  runWorkflow,
  type RunWorkflowOptions,
  Sequence,
  Task,
  Workflow,
  type WorkflowDefinition,
  type WorkflowEvent,
  type WorkflowResult,
} from '@smithers/workflow'
export * from './tools.ts'

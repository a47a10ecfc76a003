export {
  createManageTodoList,
  type ManageTodoListInput,
  type ManageTodoListOptions,
  type TodoPatch,
} from './manage-todo-list.ts'
export type { TodoItem, TodoList, TodoStatus } from './todo-list.ts'
export {
  createGetToolResponse,
  type GetToolResponseInput,
  type ToolResponse,
} from './get-tool-response.ts'
export { createResponse, type ResponseTool, type StepWithResults } from './response.ts'

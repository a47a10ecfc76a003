export {
  createTool,
  type CreateStreamingToolOptions,
  type CreateToolOptions,
} from './create-tool.ts'
export {
  type AdaptOptions,
  adaptTool,
  type ForeignCall,
  type ForeignFunction,
  type ForeignTool,
} from './foreign-tool.ts'
export { mcpTools, type McpToolsOptions } from './mcp-tools.ts'
export type { McpAnnotations, McpClient, McpToolDefinition } from './mcp-client.ts'

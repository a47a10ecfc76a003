export { durableTools, type DurableTools, type DurableToolsOptions } from './durable-tools.ts'

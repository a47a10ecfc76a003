export {
  type BuiltinTools,
  type BuiltinToolsOptions,
  type CodingTools,
  codingTools,
  createBuiltinTools,
  tools,
} from './toolkit.ts'
export { type ClosableTools, closeTools } from './bundle/bundle-lifetime.ts'
export { type ReadInput, read } from './tools/read.ts'
export { type WriteInput, write } from './tools/write.ts'
export { type EditInput, edit } from './tools/edit.ts'
export { type ReplaceInput, replace } from './tools/replace.ts'
export type { GlobInput } from './search/glob-input.ts'
export { glob } from './tools/glob.ts'
export type { GrepInput } from './search/grep-input.ts'
export { grep } from './tools/grep.ts'
export type { BashInput } from './command/bash-input.ts'
export { bash } from './tools/bash.ts'
export { createLiveBash } from './tools/live-bash.ts'
export type {
  BundleNetwork,
  BundleOptions,
  CommandOutput,
  RanCommand,
} from './bundle/bundle-options.ts'
export type { BackgroundBashInput } from './command/bash-input.ts'
export {
  type BashOutputInput,
  type CommandTools,
  createCommandTools,
} from './tools/command-tools.ts'
export { repairToolCall } from './tools/repair-tool-call.ts'

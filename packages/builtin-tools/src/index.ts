export {
  type BuiltinTools,
  type BuiltinToolsOptions,
  type CodingTools,
  codingTools,
  createBuiltinTools,
  tools,
} from './toolkit.ts'
export { type ReadInput, read } from './read.ts'
export { type WriteInput, write } from './write.ts'
export { type EditInput, edit } from './edit.ts'
export { type ReplaceInput, replace } from './replace.ts'
export type { GlobInput } from './glob-input.ts'
export { glob } from './glob.ts'
export type { GrepInput } from './grep-input.ts'
export { grep } from './grep.ts'
export type { BashInput } from './bash-input.ts'
export { bash } from './bash.ts'
export { createLiveBash } from './live-bash.ts'
export type { BundleNetwork, BundleOptions, RanCommand } from './bundle-options.ts'
export type { BackgroundBashInput } from './bash-input.ts'
export { type BashOutputInput, type CommandTools, createCommandTools } from './command-tools.ts'
export { repairToolCall } from './repair-tool-call.ts'

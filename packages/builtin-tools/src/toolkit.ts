import { type FieldsOf, listOf, oneOf, readOptions } from '@smithers/sandbox/options'
import { bash, createBashTool } from './tools/bash.ts'
import { createEditTool, edit } from './tools/edit.ts'
import { createGlobTool, type glob } from './tools/glob.ts'
import { createGrepTool, grep } from './tools/grep.ts'
import { createReadTool, read } from './tools/read.ts'
import { createReplaceTool, type replace } from './tools/replace.ts'
import { bundleOptionReaders, type BundleOptions } from './bundle/bundle-options.ts'
import { createWriteTool, write } from './tools/write.ts'
import { closable, type ClosableTools } from './bundle/bundle-lifetime.ts'
import { closeRootsOf } from './bundle/sandbox-for-context.ts'

/** The built-in tools by name. A type alias, so that it is assignable to the AI SDK's `ToolSet`. */
export type BuiltinTools = {
  readonly read: typeof read
  readonly write: typeof write
  readonly edit: typeof edit
  readonly grep: typeof grep
  readonly bash: typeof bash
}

/** All built-in tools by name. A type alias, so that it is assignable to the AI SDK's `ToolSet`. */
export type CodingTools = BuiltinTools & {
  readonly replace: typeof replace
  readonly glob: typeof glob
}

/** The default bundle: `read`, `write`, `edit`, `grep` and `bash`. */
export const tools: BuiltinTools = { read, write, edit, grep, bash }

/** Options of {@link createBuiltinTools}. */
export interface BuiltinToolsOptions<
  Name extends keyof CodingTools = keyof BuiltinTools,
> extends BundleOptions {
  /** Names of the tools in the bundle. @default read, write, edit, grep and bash */
  readonly only?: readonly Name[] | undefined
}

const factories = {
  read: createReadTool,
  write: createWriteTool,
  edit: createEditTool,
  grep: createGrepTool,
  bash: createBashTool,
  replace: createReplaceTool,
  glob: createGlobTool,
}

const defaultNames = Object.keys(tools) as (keyof BuiltinTools)[]

const optionReaders: FieldsOf<BuiltinToolsOptions<keyof CodingTools>> = {
  only: listOf(oneOf(Object.keys(factories))),
  ...bundleOptionReaders,
}

/**
 * Creates a bundle with other limits, isolation, network policy or root, or with fewer tools. Close it (`closeTools`, or
 * `await using`) when its runs have ended; one that was forgotten is closed when it is collected as garbage.
 *
 * @throws SandboxError `INVALID_INPUT` for an unknown option or a value of the wrong type, so that a misspelt restriction
 * is never ignored
 *
 * @example
 * const readOnly = createBuiltinTools({ only: ['read', 'grep'] })
 */
export function createBuiltinTools<Name extends keyof CodingTools>(
  options: BuiltinToolsOptions<Name> & { readonly only: readonly Name[] },
): Pick<CodingTools, Name> & ClosableTools
export function createBuiltinTools(options?: BuiltinToolsOptions): BuiltinTools & ClosableTools
export function createBuiltinTools(
  options: BuiltinToolsOptions<keyof CodingTools> = {},
): Partial<CodingTools> & ClosableTools {
  const { only, ...rest } = readOptions(options, optionReaders)
  const bundle: BundleOptions = Object.freeze(rest)
  return closable(toolsOf(bundle, only ?? defaultNames), bundle, closeRootsOf)
}

function toolsOf(
  bundle: BundleOptions,
  names: readonly (keyof CodingTools)[],
): Partial<CodingTools> {
  // Each factory creates the tool of its name; indexing loses that link.
  return Object.fromEntries(
    names.map((name) => [name, factories[name](bundle)]),
  ) as Partial<CodingTools>
}

/** All seven tools, with results in pages: what a coding agent needs. */
export const codingTools: CodingTools = toolsOf(
  Object.freeze({ paging: true, strictArguments: true }),
  ['read', 'write', 'edit', 'replace', 'grep', 'glob', 'bash'],
) as CodingTools

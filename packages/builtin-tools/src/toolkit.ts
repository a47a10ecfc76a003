import { type FieldsOf, listOf, oneOf, readOptions } from '@smithers/sandbox/options'
import { bash, createBashTool } from './bash.ts'
import { createEditTool, edit } from './edit.ts'
import { createGrepTool, grep } from './grep.ts'
import { createReadTool, read } from './read.ts'
import { bundleOptionReaders, type BundleOptions } from './bundle-options.ts'
import { createWriteTool, write } from './write.ts'

/** The built-in tools by name. A type alias, so that it is assignable to the AI SDK's `ToolSet`. */
export type BuiltinTools = {
  readonly read: typeof read
  readonly write: typeof write
  readonly edit: typeof edit
  readonly grep: typeof grep
  readonly bash: typeof bash
}

/** The default bundle: `read`, `write`, `edit`, `grep` and `bash`. */
export const tools: BuiltinTools = { read, write, edit, grep, bash }

/** Options of {@link createBuiltinTools}. */
export interface BuiltinToolsOptions<
  Name extends keyof BuiltinTools = keyof BuiltinTools,
> extends BundleOptions {
  /** Names of the tools in the bundle. @default all five */
  readonly only?: readonly Name[] | undefined
}

const factories = {
  read: createReadTool,
  write: createWriteTool,
  edit: createEditTool,
  grep: createGrepTool,
  bash: createBashTool,
}

const optionReaders: FieldsOf<BuiltinToolsOptions> = {
  only: listOf(oneOf(Object.keys(factories))),
  ...bundleOptionReaders,
}

/**
 * Creates a bundle with other limits, isolation, network policy or root, or with fewer tools.
 *
 * @throws SandboxError `INVALID_INPUT` for an unknown option or a value of the wrong type, so that a misspelt restriction
 * is never ignored
 *
 * @example
 * const readOnly = createBuiltinTools({ only: ['read', 'grep'] })
 */
export function createBuiltinTools<Name extends keyof BuiltinTools = keyof BuiltinTools>(
  options: BuiltinToolsOptions<Name> = {},
): Pick<BuiltinTools, Name> {
  const { only, ...rest } = readOptions(options, optionReaders)
  const bundle: BundleOptions = Object.freeze(rest)
  const names = only ?? (Object.keys(factories) as Name[])
  // Each factory creates the tool of its name; indexing loses that link.
  return Object.fromEntries(names.map((name) => [name, factories[name](bundle)])) as Pick<
    BuiltinTools,
    Name
  >
}

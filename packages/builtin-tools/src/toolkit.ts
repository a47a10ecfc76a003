import { type FieldsOf, listOf, oneOf, readOptions } from '@smithers/sandbox/options'
import { bash, createBashTool } from './bash.ts'
import { createEditTool, edit } from './edit.ts'
import { createGrepTool, grep } from './grep.ts'
import { createReadTool, read } from './read.ts'
import { bundleOptionReaders, type BundleOptions } from './bundle-options.ts'
import { createWriteTool, write } from './write.ts'

/** The built-in tools by name. A type and not an interface, so that it is a `ToolSet` of the AI SDK. */
export type BuiltinTools = {
  readonly read: typeof read
  readonly write: typeof write
  readonly edit: typeof edit
  readonly grep: typeof grep
  readonly bash: typeof bash
}

/** The bundle (S0 §Built-in tools): exactly `read`, `write`, `edit`, `grep` and `bash`, with the defaults. */
export const tools: BuiltinTools = { read, write, edit, grep, bash }

/** Options of {@link createBuiltinTools}. */
export interface BuiltinToolsOptions<
  Name extends keyof BuiltinTools = keyof BuiltinTools,
> extends BundleOptions {
  /** Which tools the bundle holds. @default all five */
  readonly only?: readonly Name[] | undefined
}

const factories = {
  read: createReadTool,
  write: createWriteTool,
  edit: createEditTool,
  grep: createGrepTool,
  bash: createBashTool,
}

const optionFields: FieldsOf<BuiltinToolsOptions> = {
  only: listOf(oneOf(Object.keys(factories))),
  ...bundleOptionReaders,
}

/**
 * A bundle with other limits, isolation, network policy or root, or fewer tools.
 *
 * @throws an error with the code `INVALID_INPUT` for an option that does not exist or is not of its type: what was to
 * restrict the tools is never lost in silence
 *
 * @example
 * const readOnly = createBuiltinTools({ only: ['read', 'grep'] })
 */
export function createBuiltinTools<Name extends keyof BuiltinTools = keyof BuiltinTools>(
  options: BuiltinToolsOptions<Name> = {},
): Pick<BuiltinTools, Name> {
  const { only, ...rest } = readOptions(options, optionFields)
  const settings: BundleOptions = Object.freeze(rest)
  const names = only ?? (Object.keys(factories) as Name[])
  // Each factory makes the tool of its name; the compiler loses that link through the index.
  return Object.fromEntries(names.map((name) => [name, factories[name](settings)])) as Pick<
    BuiltinTools,
    Name
  >
}

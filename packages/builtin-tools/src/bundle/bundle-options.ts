import { resolve } from 'node:path'
import type { CommandLimits, NetworkLimits, RunResult, SandboxOptions } from '@smithers/sandbox'
import type { ModelBudget, NetworkAccess } from '@smithers/tool-core'
import {
  accepts,
  callback,
  fieldsOf,
  type FieldsOf,
  flag,
  sandboxOptions,
  text,
  wholeNumber,
} from '@smithers/sandbox/options'

/** The hosts that commands of a bundle may reach. */
export interface BundleNetwork extends NetworkAccess {
  /** Limits of the connections of one command. */
  readonly limits?: NetworkLimits | undefined
}

/** Options that a bundle fixes for its tools. Missing options come from the context of each call. */
export interface BundleOptions {
  /** Sandbox root. A relative path is resolved when the bundle is created. @default the context's `rootDir` */
  readonly rootDir?: string | undefined
  /** Limits of commands and of what a tool reads, writes and returns. */
  readonly limits?: CommandLimits | undefined
  /** What the operating system must enforce for commands. @default the context's `isolation` */
  readonly isolation?: SandboxOptions['isolation'] | undefined
  /** Whether commands may use the network; overrides the context's `allowNetwork` and `network`. @default the context's */
  readonly allowNetwork?: boolean | undefined
  /**
   * Which hosts commands may reach, and nothing else; overrides `allowNetwork`. Needs the isolation backend `namespaces` or
   * `bubblewrap`. @default the context's `network`, unless the bundle has `allowNetwork`
   */
  readonly network?: BundleNetwork | undefined
  /** The static check of a command line while the network is off. @default 'auto' */
  readonly commands?: SandboxOptions['commands'] | undefined
  /**
   * How much of one result the model reads, of errors too: the beginning and the end of longer ones. What `execute` returns
   * stays whole, up to `limits.maxOutputBytes`. `false`: all of it. @default 50 000 bytes, 2 000 lines
   */
  readonly modelBudget?: Pick<ModelBudget, 'maxBytes' | 'maxLines'> | false | undefined
  /**
   * `read` returns the first page of a file that does not fit and says how to go on, and shows images to the model, which
   * it refuses otherwise. `grep` cuts lines of more than 2 000 bytes. @default false
   */
  readonly paging?: boolean | undefined
  /** Refuse arguments that a tool does not know, by name, instead of ignoring them. @default false */
  readonly strictArguments?: boolean | undefined
  /** Rules for files: extra readable paths for commands, denied globs, protected names, hard links. */
  readonly files?: SandboxOptions['files'] | undefined
  /** Environment of commands: names to pass, values to set. */
  readonly env?: SandboxOptions['env'] | undefined
  /** Whether commands commit under the user's git name and address. @default true */
  readonly gitIdentity?: boolean | undefined
  /**
   * Whether commands without a network install from what npm and pnpm of the user have downloaded. @default false
   */
  readonly packageCaches?: boolean | undefined
  /**
   * Called after each command of `bash`, before the model sees the outcome. Receives the separate streams, what was
   * enforced, and changes of protected names. An error it throws fails the call.
   */
  readonly onCommand?: ((command: RanCommand) => void) | undefined
  /**
   * Called with each piece that a command of `bash` prints, while it runs: for a display of progress. Not of processes in
   * the background.
   */
  readonly onOutput?: ((output: CommandOutput) => void) | undefined
  /** Called once, at the first command, with all that the operating system does not enforce. @default process.emitWarning */
  readonly warn?: ((message: string) => void) | undefined
}

/** A piece of what a command of `bash` prints. */
export interface CommandOutput {
  readonly toolCallId: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/** A command of `bash` and its result. */
export interface RanCommand {
  readonly toolCallId: string
  readonly cmd: string
  readonly args: readonly string[]
  readonly result: RunResult
}

const budgetFields = fieldsOf({
  maxBytes: wholeNumber('bytes', 10 * 1024 * 1024),
  maxLines: wholeNumber('lines', 1_000_000),
})

/** Readers of {@link BundleOptions}, taken from the sandbox for its options. */
export const bundleOptionReaders: FieldsOf<BundleOptions> = {
  rootDir: (value, name, all) => resolve(String(text(value, name, all))),
  limits: sandboxOptions.limits,
  isolation: sandboxOptions.isolation,
  allowNetwork: flag,
  network: hosts,
  commands: sandboxOptions.commands,
  modelBudget: budget,
  paging: flag,
  strictArguments: flag,
  files: sandboxOptions.files,
  env: sandboxOptions.env,
  gitIdentity: sandboxOptions.gitIdentity,
  packageCaches: sandboxOptions.packageCaches,
  onCommand: callback,
  onOutput: callback,
  warn: callback,
}

/** The words `'none'` and `'host'` are `allowNetwork` here. */
function hosts(...[value, name, all]: Parameters<typeof text>): unknown {
  if (typeof value === 'object' && value !== null && 'onDecision' in value) {
    const { onDecision, ...rules } = value
    const read = sandboxOptions.network(rules, name, all) as BundleNetwork
    if (onDecision === 'ask') return Object.freeze({ ...read, onDecision })
  }
  if (typeof value === 'object') return sandboxOptions.network(value, name, all)
  return accepts('{ allow: [...] }; allowNetwork opens all of it', () => false)(value, name, all)
}

function budget(...[value, name, all]: Parameters<typeof text>): unknown {
  if (value === false) return value
  return budgetFields(value, name, all)
}

/** The tools' budget for what a model reads. `advice` says how the model can ask for less. */
export function modelBudget(
  { modelBudget: given }: BundleOptions,
  advice: string,
): { readonly modelBudget?: ModelBudget } {
  if (given === false) return {}
  return { modelBudget: { maxBytes: 50_000, maxLines: 2_000, ...given, advice } }
}

/** No option fixed: everything comes from the context of the call. */
export const defaultOptions: BundleOptions = Object.freeze({})

/** The limits of one call: the bundle's, else the context's. */
export function limitsFor(
  context: { readonly maxOutputBytes: number; readonly timeoutMs: number },
  options: BundleOptions,
): { readonly maxOutputBytes: number; readonly timeoutMs: number } {
  return {
    // A context accepts fractions.
    maxOutputBytes: Math.ceil(options.limits?.maxOutputBytes ?? context.maxOutputBytes),
    timeoutMs: Math.ceil(options.limits?.timeoutMs ?? context.timeoutMs),
  }
}

import { resolve } from 'node:path'
import type { CommandLimits, RunResult, SandboxOptions } from '@smithers/sandbox'
import { callback, type FieldsOf, flag, sandboxOptions, text } from '@smithers/sandbox/options'

/** What a bundle fixes for its tools; what it leaves out comes from the context of each call. */
export interface BundleOptions {
  /** Sandbox root; a relative path is resolved once, now. @default the context's `rootDir` */
  readonly rootDir?: string | undefined
  /** Limits of commands and of what a tool reads, writes and returns. */
  readonly limits?: CommandLimits | undefined
  /** How strongly the operating system must confine commands. @default the context's `isolation` */
  readonly isolation?: SandboxOptions['isolation'] | undefined
  /** `false` keeps commands off the network whatever the context says. @default the context's `allowNetwork` */
  readonly allowNetwork?: boolean | undefined
  /** The static check of a command line while the network is off. @default 'basic' */
  readonly commands?: SandboxOptions['commands'] | undefined
  /** Files: extra readable paths for commands, denied globs, protected names, hard links. */
  readonly files?: SandboxOptions['files'] | undefined
  /** Environment of commands: names to pass on, values to set. */
  readonly env?: SandboxOptions['env'] | undefined
  /**
   * Called with every command that `bash` ran, before the model sees its outcome: for the separate streams, what was
   * enforced, and changes of protected names. What it throws fails the call.
   */
  readonly onCommand?: ((command: RanCommand) => void) | undefined
  /** Told once when commands run without an enforced network. @default process.emitWarning */
  readonly warn?: ((message: string) => void) | undefined
}

/** A command of `bash` and what came of it. */
export interface RanCommand {
  readonly toolCallId: string
  readonly cmd: string
  readonly args: readonly string[]
  readonly result: RunResult
}

/** Readers of {@link BundleOptions}: the sandbox's own where an option is the sandbox's. */
export const bundleOptionReaders: FieldsOf<BundleOptions> = {
  rootDir: (value, name, all) => resolve(String(text(value, name, all))),
  limits: sandboxOptions.limits,
  isolation: sandboxOptions.isolation,
  allowNetwork: flag,
  commands: sandboxOptions.commands,
  files: sandboxOptions.files,
  env: sandboxOptions.env,
  onCommand: callback,
  warn: callback,
}

/** Everything from the context of the call. */
export const defaultOptions: BundleOptions = Object.freeze({})

/** The limits of one call: the bundle's where it has its own, else the context's. */
export function limitsFor(
  context: { readonly maxOutputBytes: number; readonly timeoutMs: number },
  settings: BundleOptions,
): { readonly maxOutputBytes: number; readonly timeoutMs: number } {
  return {
    // A context takes fractions.
    maxOutputBytes: Math.ceil(settings.limits?.maxOutputBytes ?? context.maxOutputBytes),
    timeoutMs: Math.ceil(settings.limits?.timeoutMs ?? context.timeoutMs),
  }
}

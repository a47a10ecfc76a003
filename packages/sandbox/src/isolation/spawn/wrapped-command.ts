import type { IsolationPolicy } from '../isolation-policy.ts'

/** One command to confine by spawning another program in its place. */
export interface WrapRequest {
  readonly argv: readonly [string, ...string[]]
  /** The program that was asked for, where `argv` begins with one that sets limits. @default `argv[0]` */
  readonly command?: string
  /** Absolute, the root or beneath it. */
  readonly cwd: string
  /** Absolute and canonical. */
  readonly rootDir: string
  /** An open descriptor of that very directory: what its name leads to may have been exchanged. */
  readonly rootDescriptor?: number | undefined
  readonly policy: IsolationPolicy
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** Whether the answer has to know for certain if the command was started; its `close` must then be called. */
  readonly reportsStart?: boolean
}

/** What to spawn instead of the command. */
export interface WrappedCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Open descriptors that the child must receive as 3, 4, … in this order. The caller closes them after the spawn. */
  readonly descriptors: readonly number[]
  /** Why the command never started, given what was printed before an exit with code 1; `null` when it did start. */
  readonly startFailure?: (printed: string) => string | null
  /** Releases what `startFailure` needs. */
  readonly close?: () => void
}

/** Says what to spawn for a command. Cheap and synchronous; the result must be spawned or its descriptors closed. */
export type Wrap = (request: WrapRequest) => WrappedCommand

import type { NetworkOptions } from './egress/network-options.ts'
import type { SandboxFiles } from './files/sandbox-files.ts'
import type { IsolationReport } from './isolation/backend.ts'
import type { IsolationOption } from './isolation/detect-isolation.ts'
import type { CommandLimits } from './options/limits.ts'
import type { CommandCheck } from './command-policy/command-policy.ts'
import type { EnvironmentOptions } from './process/environment.ts'
import type { SandboxSession } from './ai-sdk-session/session-types.ts'
import type { FilePolicy } from './files/file-policy.ts'
import type { RunOptions, RunResult } from './process/run-types.ts'

/** Options of {@link createSandbox}. One policy for the file methods and for every command. */
export interface SandboxOptions {
  /** The directory to confine to. Resolved to its real path once. */
  readonly rootDir: string
  readonly files?: FilePolicy | undefined
  /**
   * What commands may reach: nothing, everything, or some hosts. Hosts need the backend `namespaces` or `bubblewrap`.
   *
   * @default 'none'
   */
  readonly network?: 'none' | 'host' | NetworkOptions | undefined
  /**
   * The static check of the command line while the network is off. `'auto'` refuses only commands that have no purpose
   * without a network where the operating system enforces it, and is `'basic'` elsewhere. @default 'auto'
   */
  readonly commands?: 'auto' | 'basic' | 'strict' | 'off' | CommandCheck | undefined
  readonly env?: EnvironmentOptions | undefined
  /**
   * Whether commands that cannot see the user's home commit under the user's git name and address. @default true
   */
  readonly gitIdentity?: boolean | undefined
  /**
   * Whether commands without a network install from what npm and pnpm of the user have downloaded: npm's cache read-only,
   * pnpm's store behind a layer of the sandbox's own. Commands can then read every package in them, private ones too.
   *
   * @default false
   */
  readonly packageCaches?: boolean | undefined
  readonly limits?: CommandLimits | undefined
  /**
   * `'auto'`: the strongest backend that was seen to work here. `'require'`: every property must be enforced;
   * `{ require }`: these must be. `'none'`: no isolation by the operating system.
   *
   * @default 'auto'
   */
  readonly isolation?: IsolationOption | undefined
  /** Called once, at the first command, with all that the operating system does not enforce. @default process.emitWarning */
  readonly warn?: ((message: string) => void) | undefined
}

/** What {@link Sandbox.explain} answers about. */
export type SandboxAction =
  | { readonly type: 'run'; readonly command: string; readonly args?: readonly string[] }
  | { readonly type: 'read' | 'write'; readonly path: string }

/** Whether an action would be let through, and what decides. */
export interface Explanation {
  readonly allowed: boolean
  /** One sentence for a person. */
  readonly reason: string
  /** The code that the action would fail with. */
  readonly code?: string
  /** The option of {@link SandboxOptions} that changes the answer. */
  readonly option?: string
}

/** What holds for every command and file operation of a sandbox. */
export interface SandboxReport extends IsolationReport {
  /** What was asked for; `enforced.network` says how far it holds. */
  readonly network: 'none' | 'host' | 'allow-list'
  /** `'beneath'`: the file methods cannot be raced out of the root. `'checked'`: paths are checked before and after. */
  readonly guard: SandboxFiles['guard']
}

/** Files and commands confined to one directory. Made by {@link createSandbox}. */
export interface Sandbox {
  /** Canonical and absolute. */
  readonly rootDir: string
  readonly files: SandboxFiles
  readonly report: SandboxReport
  /**
   * Runs one command, argv only: nothing is parsed by a shell. It does not throw for what the command does or for what
   * the policy refuses: `status` and `error` say so.
   *
   * @throws SandboxError `INVALID_INPUT` when an argument or a variable is not a string or holds what no process can be
   * given, another option is not of its type, or a limit is out of range; nothing was started
   */
  run(command: string, args?: readonly string[], options?: RunOptions): Promise<RunResult>
  /** Answers, without acting, whether an action would be let through. */
  explain(action: SandboxAction): Promise<Explanation>
  /** The view of this sandbox that tools and harnesses of the AI SDK expect (`experimental_sandbox`). */
  session(): SandboxSession
  /**
   * Ends the sandbox: kills the commands that run, waits until they have ended and what they changed has been judged, then
   * releases the root and removes their home. Later calls are refused with `TOOL_CLOSED`. Closing again waits for the same
   * end. A sandbox that was forgotten leaves nothing open either: that is released when it is collected as garbage.
   */
  close(): Promise<void>
  /** {@link Sandbox.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

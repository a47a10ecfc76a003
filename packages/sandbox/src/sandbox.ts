import type { SandboxFiles } from './files/sandbox-files.ts'
import type {
  CommandAccess,
  EnforcedProperties,
  IsolationBackendName,
  IsolationReport,
} from './isolation/backend.ts'
import type { IsolationWish } from './isolation/detect-isolation.ts'
import type { CommandLimits } from './options/limits.ts'
import type { CommandCheck } from './command-policy/command-policy.ts'
import type { EnvironmentOptions } from './process/environment.ts'
import type { CapturedOutput } from './process/output/output-buffer.ts'
import type { CommandInput } from './process/command-input.ts'
import type { OutputChunk } from './process/output/read-output.ts'
import type { SandboxSession } from './ai-sdk-session/session.ts'
import type { SandboxError } from './errors/sandbox-error.ts'

/** Which files: the same rules for the file methods and for commands. */
export interface FilePolicy {
  /** Absolute paths outside the root that commands may read, besides the system's. @default [] */
  readonly read?: readonly string[] | undefined
  /** Globs, matched on the path from the root, that nothing may read or change. @default [] */
  readonly deny?: readonly string[] | undefined
  /** Names that a command may not change because something unconfined trusts them later. @default 'default' */
  readonly protect?: 'default' | 'none' | readonly string[] | undefined
  /** Writes to a file with more hard links than this are refused. @default 1 */
  readonly maxLinks?: number | undefined
  /** When a write by the file methods counts as done: on the disk, or with the operating system. @default 'fsync' */
  readonly durability?: 'fsync' | 'relaxed' | undefined
}

/** Options of {@link createSandbox}. One policy for the file methods and for every command. */
export interface SandboxOptions {
  /** The directory to confine to. Resolved to its real path once. */
  readonly rootDir: string
  readonly files?: FilePolicy | undefined
  /** What commands may reach. A list of hosts is refused until it can be enforced. @default 'none' */
  readonly network?: 'none' | 'host' | { readonly allow: readonly string[] } | undefined
  /** The static check of the command line while the network is off. @default 'documented' */
  readonly commands?: 'documented' | 'strict' | 'off' | CommandCheck | undefined
  readonly env?: EnvironmentOptions | undefined
  readonly limits?: CommandLimits | undefined
  /**
   * `'auto'`: the strongest backend that was seen to work here. `'require'`: every property must be enforced;
   * `{ require }`: these must be. `'none'`: no isolation by the operating system.
   *
   * @default 'auto'
   */
  readonly isolation?: IsolationWish | undefined
  /** Told once when commands run without an enforced network. @default process.emitWarning */
  readonly warn?: ((message: string) => void) | undefined
}

/** Options of {@link Sandbox.run}. */
export interface RunOptions extends CommandLimits {
  /** Working directory, from the root or absolute beneath it. @default '.' */
  readonly cwd?: string | undefined
  /** More variables for this command; they win over the sandbox's. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /**
   * `'read'` for a program that changes nothing, such as a search: under bubblewrap it gets the root read-only, the
   * system's programs and `files.read`, and nothing else (no tools of PATH but itself, settings, devices, `/proc`, home or
   * temporary directory). It is confined more closely, and starts sooner. @default 'write'
   */
  readonly access?: CommandAccess | undefined
  /**
   * Gives the command one pipe for both of its streams, so that `output` has what it printed in the exact order. It then
   * is all `stdout`, and `stderr` is empty. Two pipes are read one after the other, so their order is only near. On Linux;
   * elsewhere the streams stay two. @default false
   */
  readonly mergeOutput?: boolean | undefined
  /** What the command reads from standard input. @default nothing */
  readonly stdin?: CommandInput | undefined
  /** Kills the whole tree when it aborts; a signal that has aborted already starts nothing. */
  readonly signal?: AbortSignal | undefined
  /** Called with each piece of output; a returned promise holds the stream back until it is settled. */
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined
}

/** What came of {@link Sandbox.run}. */
export interface RunResult extends CapturedOutput {
  /**
   * `'exited'`: by itself, with any exit code. `'killed'`: by a signal that was not ours, or for its memory.
   * `'refused'`: by the policy; nothing was started. `'spawn-error'`: it could not be started.
   */
  readonly status: 'exited' | 'timeout' | 'aborted' | 'killed' | 'spawn-error' | 'refused'
  /** `null` when a signal ended it or it was never started. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly durationMs: number
  /** What the operating system enforced for this command. */
  readonly enforced: RunEnforcement
  /** Protected names that the command made or changed, and limits that it met. */
  readonly violations: readonly Violation[]
  /** Why the command may have failed, when that is a rule of ours and its output does not say so. */
  readonly hint?: string
  /** Why the status is not `'exited'`: what to throw, or to show. */
  readonly error?: SandboxError
}

/** What was enforced for one command. */
export interface RunEnforcement extends EnforcedProperties {
  readonly backend: IsolationBackendName
  readonly limits: LimitEnforcement
}

/**
 * How far the limits hold that not every machine can enforce; absent ones were not asked for. `'watched'`: looked at ten
 * times a second. `fileMb`, `cpuSeconds`, the time and the output hold everywhere.
 */
export interface LimitEnforcement {
  readonly memoryMb?: 'enforced' | 'watched'
  readonly processes?: 'enforced' | 'none'
}

/** Something that a command did and should not have, found afterwards. */
export interface Violation {
  readonly rule: 'protected-name' | 'memory'
  /** From the root, or the limit. */
  readonly subject: string
  readonly message: string
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
  readonly network: 'none' | 'host'
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
  /** Releases the held directory. Commands that are running end by themselves. */
  close(): void
}

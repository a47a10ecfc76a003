/** Options of {@link SandboxSession}'s `run` and `spawn`. */
export interface SessionCommand {
  /** Run by `sh -c`. */
  readonly command: string
  readonly workingDirectory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** A command started by {@link SandboxSession.spawn}. */
export interface SessionProcess {
  readonly pid: number
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  /** The exit code, or 128 plus the signal number when a signal ended it. Rejects when `abortSignal` aborted it. */
  wait(): Promise<{ readonly exitCode: number }>
  /** Kills the command and everything it started; settles when all of it has ended. */
  kill(): Promise<void>
}

/** A {@link SessionProcess} with standard input. */
export interface WritableSessionProcess extends SessionProcess {
  readonly stdin: WritableStream<Uint8Array>
}

/**
 * The shape of the AI SDK's `Experimental_SandboxSession`, so that its tools and harnesses work inside the sandbox. Its
 * commands are strings, which `sh -c` runs under the sandbox's policy, isolation and limits.
 */
export interface SandboxSession extends SessionFiles {
  readonly description: string
  readonly run: (options: SessionCommand) => Promise<{
    readonly exitCode: number
    readonly stdout: string
    readonly stderr: string
  }>
  readonly spawn: {
    (options: SessionCommand & { readonly stdin: true }): Promise<WritableSessionProcess>
    (options: SessionCommand & { readonly stdin?: false }): Promise<SessionProcess>
    (
      options: SessionCommand & { readonly stdin?: boolean },
    ): Promise<SessionProcess | WritableSessionProcess>
  }
}
export interface PathOptions {
  readonly path: string
  readonly abortSignal?: AbortSignal | undefined
}
export type SessionKind = 'file' | 'directory' | 'other'

/**
 * The shape of the file methods of the AI SDK's `Experimental_SandboxSession`; this package does not depend on `ai`.
 * Relative paths start at the root. Absolute paths outside the root are refused.
 */
export interface SessionFiles {
  readonly readFile: (options: PathOptions) => Promise<ReadableStream<Uint8Array> | null>
  readonly readBinaryFile: (options: PathOptions) => Promise<Uint8Array | null>
  readonly readTextFile: (
    options: PathOptions & { encoding?: string; startLine?: number; endLine?: number },
  ) => Promise<string | null>
  readonly writeFile: (
    options: PathOptions & { content: ReadableStream<Uint8Array> },
  ) => Promise<void>
  readonly writeBinaryFile: (options: PathOptions & { content: Uint8Array }) => Promise<void>
  readonly writeTextFile: (
    options: PathOptions & { content: string; encoding?: string },
  ) => Promise<void>
  readonly stat: (options: PathOptions) => Promise<{ type: SessionKind; size: number } | null>
  readonly listDirectory: (
    options: PathOptions,
  ) => Promise<{ name: string; type: SessionKind | 'symlink' }[] | null>
  readonly deleteFile: (options: PathOptions) => Promise<boolean>
}

/** Options of {@link SandboxSession}'s `run` and `spawn`. */
export interface SessionCommand {
  /** Read by `sh -c`. */
  readonly command: string
  readonly workingDirectory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** A command that {@link SandboxSession.spawn} has started. */
export interface SessionProcess {
  readonly pid: number
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  /** The exit code; 128 and the signal's number when a signal ended it. Rejects when `abortSignal` did. */
  wait(): Promise<{ readonly exitCode: number }>
  /** Kills the command and everything it started; settles when it is gone. */
  kill(): Promise<void>
}

/** A {@link SessionProcess} that can be written to. */
export interface WritableSessionProcess extends SessionProcess {
  readonly stdin: WritableStream<Uint8Array>
}

/**
 * The AI SDK's `Experimental_SandboxSession`, by shape: its tools and harnesses then work inside the sandbox. Its commands
 * are strings, so `sh -c` reads them; the sandbox's policy, isolation and limits hold for them as for every command.
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
 * The file methods of the AI SDK's `Experimental_SandboxSession`, by shape: this package does not depend on `ai`.
 * Relative paths count from the root. An absolute path outside the root is refused like any other way out.
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

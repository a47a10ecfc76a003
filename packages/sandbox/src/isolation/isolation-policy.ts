/** Whether a command may change the root, or only read it. */
export type CommandAccess = 'write' | 'read'

/** How a command without a network reaches the proxy that judges its connections. */
export interface ProxyAddress {
  /** A unix socket outside. */
  readonly socketPath: string
  /** On 127.0.0.1, in the command's own network. */
  readonly port: number
}

/** What is kept of the home from command to command, outside. The two share nothing. */
export interface HomeDirectories {
  /** A home as a whole. */
  readonly whole: string
  /** Single directories of a home that is otherwise empty for each command. */
  readonly kept: string
}

/** A directory outside the root that commands can read under another path. */
export interface ShownDirectory {
  readonly source: string
  readonly path: string
}

/** The part of a sandbox's policy that an operating system can enforce. */
export interface IsolationPolicy {
  readonly network: 'none' | 'host'
  /** With `network: 'none'`: the one way out. Only `namespaces` and `bubblewrap` can open it. */
  readonly proxy?: ProxyAddress | undefined
  /**
   * `'read'`: the command gets the root read-only, the system's programs and `read`, and nothing else: no `/etc`, tools,
   * devices, `/proc`, home or temporary directory. @default 'write'
   */
  readonly access?: CommandAccess
  /** Absolute paths outside the root that a command may read. Names that do not exist are skipped. */
  readonly read: readonly string[]
  /** Absolute directories outside the root that a command may change; they exist. Not with `access: 'read'`. */
  readonly write?: readonly string[]
  /** Only where a backend mounts. Not with `access: 'read'`. @default none */
  readonly shown?: readonly ShownDirectory[] | undefined
  /** What commands find again in their home. @default nothing */
  readonly home?: HomeDirectories | undefined
  /** Root-relative existing names that a command may not change: mounted read-only, their ancestors pinned. */
  readonly protect: readonly string[]
  /** Root-relative existing names that a command may neither read nor change. */
  readonly deny: readonly string[]
  /** Limits that only the backend can set. Those of the kernel are in the request to start a command. */
  readonly limits: {
    /** Size of the private `/tmp`, in MiB. */
    readonly temporaryMb: number
  }
}

import type {
  MaybePromise,
  ToolCallLog,
  ToolCallLogCapabilities,
  ToolCallRow,
} from '@smithers/tool-core/log'

/** Why something is not tested. The reason becomes part of the skipped test's name. */
export interface Skip {
  readonly skip: string
}

/** A row of the documented table: the first twelve fields, which every version has. */
export type DocumentedRow = Pick<
  ToolCallRow,
  | 'runId'
  | 'nodeId'
  | 'iteration'
  | 'attempt'
  | 'seq'
  | 'toolName'
  | 'inputJson'
  | 'outputJson'
  | 'startedAtMs'
  | 'finishedAtMs'
  | 'status'
  | 'errorJson'
>

/** How to bring storage into a shape that another program or version made. */
export interface SchemaHooks {
  /** Creates the documented twelve-column table with these rows, as a program does that knows nothing else. */
  readonly createDocumentedTable: (
    location: string,
    rows: readonly DocumentedRow[],
  ) => MaybePromise<void>
  /** Marks the storage as shaped by a version newer than the adapter's. */
  readonly markNewer: (location: string) => MaybePromise<void>
}

/** How to open a log whose writes fail. */
export interface FailureHooks {
  /** Opens existing storage so that it can be read and not written. */
  readonly openReadOnly: (location: string) => MaybePromise<ToolCallLog>
  /** Opens existing storage that has no room for another row. */
  readonly openFull: (location: string) => MaybePromise<ToolCallLog>
}

/** Where a server listens: a port, or the path of its socket. */
export type ServerAddress =
  | { readonly port: number; readonly host?: string }
  | { readonly path: string }

/** How a log reaches its server, for the tests in which the connection breaks. */
export interface NetworkHooks {
  /** Where the server listens. */
  readonly server: ServerAddress
  /**
   * Opens the log of a location so that it reaches the server over this port of 127.0.0.1, where the suite passes bytes
   * on and loses some. Its settings should make it give up soon, since tests wait for that.
   */
  readonly openThrough: (port: number, location: string) => MaybePromise<ToolCallLog>
  /**
   * The longest that a method may take while the server cannot be reached. Milliseconds.
   *
   * @default 30_000
   */
  readonly longestWaitMs?: number
}

/** What the suite must know about an adapter. */
export interface LogConformanceOptions {
  /** The adapter's name in the test report. */
  readonly name: string
  /** What the adapter promises. A promise that is not made is not tested; the log must declare the same. */
  readonly capabilities: ToolCallLogCapabilities
  /**
   * Opens the log of one location. Every test brings a location of its own: an absolute path that does not exist yet in
   * a folder that does. A log without files may use it as a name. The same location means the same rows.
   */
  readonly createLog: (location: string) => MaybePromise<ToolCallLog>
  /**
   * URL of a module that exports `createLog` as above, for the tests that need other processes. Required when the
   * adapter is durable or used by several processes.
   */
  readonly processModule?: string | URL
  /** Arguments of Node for these processes. @default [] */
  readonly execArgv?: readonly string[]
  /** Rejects when the storage is damaged. Called after processes were killed. */
  readonly checkIntegrity?: (location: string) => MaybePromise<void>
  /** The log names a clock that its users share: `now`. @default false */
  readonly sharesClock?: boolean
  /** For a log that reaches its storage over a network, which can break in the middle of a call. @default none */
  readonly network?: NetworkHooks
  readonly schema: SchemaHooks | Skip
  readonly failures: FailureHooks | Skip
  /** Tests that do not apply, by group (`'4 claims'`) or by full name (`'4 claims: …'`), each with its reason. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[]
  /** Processes killed at each of the four points of a call. @default 20 */
  readonly crashesPerPoint?: number
  /** Processes killed at random moments. @default 20 */
  readonly randomCrashes?: number
}

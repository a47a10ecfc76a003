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
  readonly schema: SchemaHooks | Skip
  readonly failures: FailureHooks | Skip
  /** Tests that do not apply, by group (`'4 claims'`) or by full name (`'4 claims: …'`), each with its reason. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[]
  /** Processes killed at each of the four points of a call. @default 20 */
  readonly crashesPerPoint?: number
  /** Processes killed at random moments. @default 20 */
  readonly randomCrashes?: number
}

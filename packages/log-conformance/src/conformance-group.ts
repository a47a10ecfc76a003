import type { ToolCallLog } from '@smithers/tool-core/log'
import type { LogConformanceOptions } from './conformance-options.ts'

/** What a test of the suite works with. */
export interface Workbench {
  readonly options: LogConformanceOptions
  /** The location of this test. */
  readonly location: string
  /** A folder of this test, removed after it. */
  readonly folder: string
  /** Opens a log, at this test's location unless told; it is closed after the test. */
  readonly open: (location?: string) => Promise<ToolCallLog>
  /** Closes a log with the test, however it was opened. */
  readonly track: (log: ToolCallLog) => ToolCallLog
}

export interface ConformanceTest {
  readonly name: string
  /** Why this test does not apply to an adapter; null when it does. */
  readonly notApplicable?: (options: LogConformanceOptions) => string | null
  readonly run: (workbench: Workbench) => Promise<void>
}

export interface ConformanceGroup {
  /** Number and name: `'1 basics'`. */
  readonly title: string
  /** Why the whole group does not apply to an adapter; null when it does. */
  readonly notApplicable?: (options: LogConformanceOptions) => string | null
  readonly tests: readonly ConformanceTest[]
}

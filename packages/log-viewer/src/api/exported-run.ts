import type { ApprovalView } from './approvals.ts'
import type { CallDetail } from './call-detail.ts'
import type { RunResponse } from './calls.ts'
import type { SessionResponse } from './session.ts'

/** `GET /api/export?runId=…&format=…`: a file to save. Fetch it with the token and save the blob. */
export type ExportFormat =
  /** `application/x-ndjson`: a line for each row of the log, its fields as `ToolCallRow`, in the order of the timeline. */
  | 'jsonl'
  /** `text/html`: this page with the run in it, which needs no server. */
  | 'html'
  /** `application/json`: an OTLP `ExportTraceServiceRequest`. */
  | 'otlp'

/**
 * What an exported page shows. It is the text of `<script type="application/json" id="smithers-run">`, which the page
 * looks for before it asks a server. Such a page has no token, makes no request and decides nothing.
 */
export interface ExportedRun {
  readonly format: 1
  readonly exportedAtMs: number
  readonly session: SessionResponse
  readonly run: RunResponse
  /** Every call, in the order of the timeline. */
  readonly calls: readonly CallDetail[]
  /** How many of them have their contents; of a large run the first ones. */
  readonly callsInFull: number
  readonly approvals: readonly ApprovalView[]
}

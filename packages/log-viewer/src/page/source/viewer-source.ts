import type { ApprovalsResponse, DecideRequest, DecideResponse } from '../../api/approvals.ts'
import type { CallResponse } from '../../api/call-detail.ts'
import type { CallsResponse, RunResponse, TimelineResponse } from '../../api/calls.ts'
import type { ChangesResponse } from '../../api/changes.ts'
import type { ExportFormat } from '../../api/exported-run.ts'
import type { RunsResponse } from '../../api/runs.ts'
import type { SearchResponse } from '../../api/search.ts'
import type { SessionResponse } from '../../api/session.ts'

/** Where the page reads from: a server, or a run that was exported into the page. */
export interface ViewerSource {
  /** `'file'`: an exported page, which never changes, lists one run and decides nothing. */
  readonly kind: 'server' | 'file'
  /** What is missing here, for the reader; null when nothing is. */
  readonly lacks: string | null
  session(): Promise<SessionResponse>
  runs(cursor?: string): Promise<RunsResponse>
  /** A run with its first calls; without an id, the run with the newest call. */
  timeline(runId: string | undefined, limit: number): Promise<TimelineResponse>
  run(runId: string): Promise<RunResponse>
  /** A page of calls from a position of the timeline on. */
  calls(runId: string, from: number, limit: number): Promise<CallsResponse>
  call(callToken: string): Promise<CallResponse>
  search(query: string, cursor?: string): Promise<SearchResponse>
  approvals(): Promise<ApprovalsResponse>
  decide(request: DecideRequest): Promise<DecideResponse>
  /** Resolves once the log differs from this version, or after a while. */
  changes(since: string, signal: AbortSignal): Promise<ChangesResponse>
  exportRun(runId: string, format: ExportFormat): Promise<Blob>
}

/** Why a request failed, in words for the reader. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  /** The server's code, or `UNREACHABLE`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

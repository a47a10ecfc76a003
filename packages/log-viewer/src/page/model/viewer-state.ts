import type { ApprovalView } from '../../api/approvals.ts'
import type { CallDetail } from '../../api/call-detail.ts'
import type { CallSummary, RunResponse } from '../../api/calls.ts'
import type { RunSummary } from '../../api/runs.ts'
import type { SearchResponse } from '../../api/search.ts'
import type { SessionResponse } from '../../api/session.ts'

/** What is read from the source: being read, here, or not to be had. */
export type Loadable<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly value: Value }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }

/** What the middle pane shows. */
export type MainView = 'timeline' | 'search' | 'approvals'

/** The pane that a narrow window shows. */
export type Pane = 'runs' | 'main' | 'detail'

export interface RunList {
  readonly runs: readonly RunSummary[]
  readonly nextCursor: string | null
}

/** A run and those of its calls that have been read, by their positions. */
export interface OpenRun {
  readonly response: RunResponse
  readonly calls: ReadonlyMap<number, CallSummary>
}

/** A part of the axis. Milliseconds since the epoch. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** Everything that the page shows. */
export interface ViewerState {
  readonly session: Loadable<SessionResponse>
  readonly runs: Loadable<RunList>
  readonly runId: string | null
  readonly run: Loadable<OpenRun>
  readonly main: MainView
  readonly pane: Pane
  readonly callToken: string | null
  /** Where the selected call was last seen in the timeline, from 0. */
  readonly position: number | null
  /** The detail is on show; a window of middle width lays it over the timeline. */
  readonly detailOpen: boolean
  readonly detail: Loadable<CallDetail>
  readonly query: string
  readonly found: Loadable<SearchResponse>
  readonly approvals: Loadable<readonly ApprovalView[]>
  readonly approvalId: string | null
  /** Null shows the whole run. */
  readonly zoom: TimeSpan | null
  /** Scrolls to the newest call as it arrives. */
  readonly follow: boolean
  readonly connection: 'live' | 'lost' | 'file'
  readonly helpOpen: boolean
  /** Said once and then gone, such as "Copied". */
  readonly notice: { readonly text: string; readonly id: number } | null
  /** The server's clock minus this one, so that ages are right on a machine whose clock is not. */
  readonly clockOffsetMs: number
}

export const loading: { readonly state: 'loading' } = { state: 'loading' }

export function initialState(kind: 'server' | 'file'): ViewerState {
  return {
    session: loading,
    runs: loading,
    runId: null,
    run: loading,
    main: 'timeline',
    pane: 'runs',
    callToken: null,
    position: null,
    detailOpen: false,
    detail: loading,
    query: '',
    found: loading,
    approvals: loading,
    approvalId: null,
    zoom: null,
    follow: false,
    connection: kind === 'file' ? 'file' : 'live',
    helpOpen: false,
    notice: null,
    clockOffsetMs: 0,
  }
}

/** What was read, or undefined. */
export function valueOf<Value>(loadable: Loadable<Value>): Value | undefined {
  return loadable.state === 'ready' ? loadable.value : undefined
}

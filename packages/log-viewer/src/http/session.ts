import type { SessionResponse } from '../api/session.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { newestRows } from '../reading/read-runs.ts'
import type { ViewerSettings } from './viewer-settings.ts'

/** What this viewer shows and what it may do. */
export function sessionOf(reader: LogReader, settings: ViewerSettings): SessionResponse {
  const { log } = reader
  const hasApprovals = reader.approvals !== undefined
  return {
    logName: log.name,
    title: settings.title,
    logArgument: settings.logArgument,
    canDecide: settings.canDecide && hasApprovals,
    decidedBy: settings.decidedBy,
    hasApprovals,
    listsAllRuns: log.listRuns !== undefined,
    newestRows,
    errorTexts: settings.errorTexts,
    nowMs: reader.nowMs(),
  }
}

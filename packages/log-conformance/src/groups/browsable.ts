import assert from 'node:assert/strict'
import type { ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'

/** A log that programs can show. */
export type Browsable = ToolCallLog & Required<Pick<ToolCallLog, 'listRuns' | 'search' | 'version'>>

export const withoutBrowsing: NonNullable<ConformanceGroup['notApplicable']> = ({ capabilities }) =>
  capabilities.browsing === true ? null : 'the adapter does not declare browsing'

/** Opens the log of a test, which must have what it declares. */
export async function browsable(open: () => Promise<ToolCallLog>): Promise<Browsable> {
  const log = await open()
  assert.ok(
    log.listRuns !== undefined && log.search !== undefined && log.version !== undefined,
    'a log that declares browsing has listRuns, search and version',
  )
  return log as Browsable
}

import assert from 'node:assert/strict'
import { isSmithersError, type SmithersError } from '@smithers/tool-core/log'
import type { MaybePromise } from '@smithers/tool-core/log'
import { settled } from './sample-row.ts'

/** Asserts that a method fails as a log that cannot be used must: with `TOOL_LOG_UNAVAILABLE`. Returns the error. */
export async function assertUnavailable(call: () => MaybePromise<unknown>): Promise<SmithersError> {
  let error: unknown
  try {
    await settled(call)
  } catch (thrown) {
    error = thrown
  }
  assert.ok(isSmithersError(error), `expected a SmithersError, got ${String(error)}`)
  assert.equal(error.code, 'TOOL_LOG_UNAVAILABLE')
  return error
}

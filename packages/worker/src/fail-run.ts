import type { RunStore } from '@smithers/tool-core'
import { currentOwnerId, nowOf } from '@smithers/tool-core/log'

/**
 * Records the failure of a run that could not even begin; false when that failed. A run that another process holds stays
 * as it is.
 */
export async function failRun(runs: RunStore, runId: string, errorJson: string): Promise<boolean> {
  const [run] = await runs.list({ runId })
  // Nothing is left to record it in.
  if (run === undefined) return true
  const leaseToken = crypto.randomUUID()
  const { inputJson, optionsJson } = run
  const nowMs = nowOf(runs)
  const claimed = await runs.claim({
    runId,
    inputJson,
    optionsJson,
    ownerId: currentOwnerId(),
    leaseToken,
    leaseExpiresAtMs: nowMs + claimMs,
    nowMs,
  })
  if (!claimed.ok) return false
  const released = await runs.release({ runId, leaseToken, status: 'failed', errorJson, nowMs })
  return released === 'ok'
}

/** Long enough for the release that follows at once. */
const claimMs = 10_000

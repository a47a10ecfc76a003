import { isSmithersError } from '@smithers/tool-core'
import type { RunEnd } from '@smithers/tool-core/log'

/** What becomes of a run that its worker leaves. */
export interface WhatFollows {
  readonly status: RunEnd['status']
  /** How long a queued run waits, in milliseconds. */
  readonly delayMs: number
  /** Failures since a task last finished. */
  readonly failures: number
  /** How often workers have left it to others since a task last finished, because they have another version of it. */
  readonly skips: number
  /** Why a queued run could not go on; null for one that is only moved. */
  readonly errorJson: string | null
}

/** How a run had fared before this try. */
export type FaredBefore = Pick<WhatFollows, 'failures' | 'skips'>

/**
 * A failed run is tried again until it has failed `maxTries` times without progress, after a pause that doubles from one
 * second to five minutes. Two failures are not the run's own and do not count: a log that does not answer, and a worker
 * whose program is not the one that the run began with. The run is then looked at again after ten seconds, with another
 * program after twice as long each time up to a minute. A run that the drained worker stopped goes on at once.
 */
export function whatFollows(
  ended: RunEnd['status'],
  errorJson: string | null,
  before: FaredBefore,
  maxTries: number,
): WhatFollows {
  if (ended === 'stopped') return { status: 'queued', delayMs: 0, ...before, errorJson: null }
  if (ended !== 'failed') return { status: ended, delayMs: 0, failures: 0, skips: 0, errorJson }
  const code = codeOf(errorJson)
  if (code === 'TOOL_LOG_UNAVAILABLE') {
    return { status: 'queued', delayMs: elsewhereMs, ...before, errorJson }
  }
  if (code === 'WORKFLOW_CHANGED') {
    const delayMs = Math.min(elsewhereMs * 2 ** before.skips, longestElsewhereMs)
    return { status: 'queued', delayMs, ...before, skips: before.skips + 1, errorJson }
  }
  const failures = before.failures + 1
  const status = failures < maxTries ? 'queued' : 'failed'
  return {
    status,
    delayMs: Math.min(1000 * 2 ** (failures - 1), longestPauseMs),
    failures,
    skips: 0,
    errorJson,
  }
}

/** An error as runs record it. */
export function errorJsonOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify({ message: String(error) })
  const { name, message } = error
  return JSON.stringify({ name, ...(isSmithersError(error) && { code: error.code }), message })
}

function codeOf(errorJson: string | null): string {
  return String((JSON.parse(errorJson ?? '{}') as { readonly code?: unknown }).code)
}

const elsewhereMs = 10_000
const longestElsewhereMs = 60_000
const longestPauseMs = 300_000

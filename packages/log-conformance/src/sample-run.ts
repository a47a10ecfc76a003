import { randomUUID } from 'node:crypto'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { AttemptEnd, AttemptStart, ClaimRequest } from '@smithers/tool-core/log'
import { sampleTimeMs } from './sample-row.ts'

/** A request to hold a run, by this process. */
export function runClaim(fields: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    runId: 'run-1',
    inputJson: '{"file":"a.ts"}',
    optionsJson: '{"rootDir":"/project"}',
    ownerId: currentOwnerId(),
    leaseToken: randomUUID(),
    leaseExpiresAtMs: sampleTimeMs + 60_000,
    nowMs: sampleTimeMs,
    ...fields,
  }
}

/** The first attempt of a task. */
export function attemptStart(fields: Partial<AttemptStart> = {}): AttemptStart {
  const { nodeId = 'task-1' } = fields
  return {
    runId: 'run-1',
    leaseToken: 'one',
    nodeId,
    iteration: 0,
    taskId: nodeId,
    outputName: 'report',
    attempt: 1,
    nowMs: sampleTimeMs + 1,
    ...fields,
  }
}

/** How an attempt ends that succeeded. */
export function attemptEnd(fields: Partial<AttemptEnd> = {}): AttemptEnd {
  return {
    runId: 'run-1',
    leaseToken: 'one',
    nodeId: 'task-1',
    iteration: 0,
    attempt: 1,
    status: 'finished',
    outputJson: '{"text":"done"}',
    errorJson: null,
    nowMs: sampleTimeMs + 2,
    ...fields,
  }
}

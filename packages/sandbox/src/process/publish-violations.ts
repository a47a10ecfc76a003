import { channel } from 'node:diagnostics_channel'
import type { Violation } from '../path-rules/violation.ts'

/** What the channel `smithers:sandbox-violation` of `node:diagnostics_channel` carries. */
export interface ViolationEvent {
  readonly rootDir: string
  readonly command: string
  readonly violation: Violation
}

const violationChannel = channel('smithers:sandbox-violation')

/** Publishes each violation of one command as an event of its own. */
export function publishViolations(
  violations: readonly Violation[],
  command: { readonly rootDir: string; readonly command: string },
): void {
  if (!violationChannel.hasSubscribers) return
  for (const violation of violations) {
    violationChannel.publish({ ...command, violation } satisfies ViolationEvent)
  }
}

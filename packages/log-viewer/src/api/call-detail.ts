import type { ApprovalView } from './approvals.ts'
import type { CallSummary } from './calls.ts'

/** `GET /api/call?callToken=…`: one call in full. Every text of it may come from a model: show it as text. */
export interface CallResponse {
  readonly call: CallDetail
  readonly version: string
}

export interface CallDetail {
  readonly summary: CallSummary
  /** The outcome in words: what is known, and what to do next. Plain text, one to three sentences. */
  readonly outcomeText: string
  readonly toolCallId: string | null
  readonly idempotencyKey: string | null
  readonly inputHash: string | null
  /** Which of several identical calls of the task this is, from 0. */
  readonly occurrence: number
  readonly idempotent: boolean
  /** Where its effect lands; null for a call without a side effect, or where the log does not say. */
  readonly effectScope: 'workspace' | 'external' | null
  readonly ownerId: string | null
  readonly leaseExpiresAtMs: number | null
  readonly traceId: string | null
  readonly spanId: string | null
  /**
   * The arguments as the log holds them, as JSON: null where they were not recorded, not always valid JSON, and any
   * shape. `{"$truncated":true,"bytes":N,"sha256":…,"head":…}` was cut; `[redacted]` was hidden.
   */
  readonly inputJson: string | null
  readonly outputJson: string | null
  /** `outputJson` is the whole output. */
  readonly outputExact: boolean
  readonly error: CallError | null
  /** What the commands of the call asked of the network, as JSON. */
  readonly networkJson: string | null
  /** An exported file has no more of this call than its summary. */
  readonly contentsLeftOut?: true
  /** The arguments were cut. */
  readonly inputCut: boolean
  /** Something of the arguments was hidden. */
  readonly inputHidden: boolean
  /** The approval that the call ran with, waits for or was refused by. */
  readonly approval: ApprovalView | null
  /** The call whose output this one returned. */
  readonly replayedOriginal: ComparedCall | null
  /** Earlier calls with the same idempotency key, newest first, at most 20. */
  readonly sameKey: readonly ComparedCall[]
  /** How many calls have the same idempotency key, this one included: "how often?". */
  readonly sameKeyCount: number
  /** The most similar call of the same tool in the attempt before; null for a first attempt. */
  readonly attemptBefore: ComparedCall | null
  readonly copyAs: CopyAs
}

export interface CallError {
  readonly name: string
  /** A stable code; null for an error without one. */
  readonly code: string | null
  readonly message: string
  /** The whole record of the error. */
  readonly json: string
  /** The page about the code; null for a code that is not ours. The one link that the page makes. */
  readonly docsUrl: string | null
}

/** Another call to compare with: the page shows what differs. */
export interface ComparedCall {
  readonly summary: CallSummary
  readonly inputJson: string | null
  readonly outputJson: string | null
  /** Equal arguments, told by their hash, which sees hidden and cut parts too; null where one has no hash. */
  readonly sameArguments: boolean | null
}

/** Texts to copy. */
export interface CopyAs {
  /** `smithers show …`. */
  readonly command: string
  /** The row as JSON. */
  readonly json: string
  /** A script that makes the call again, with a new key. Its comments say when arguments were cut or hidden. */
  readonly reproduction: string
}

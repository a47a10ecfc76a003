import type { ToolTelemetry } from './telemetry.ts'
import type { OnApproval } from './on-approval.ts'
import { compileRedaction, type Redaction, type RedactionOptions } from '../json/redaction.ts'

/**
 * How cautious a run is with calls that earlier attempts made, when a tool does not say `onRetry` itself.
 *
 * `'warn'`: repeat them with the same key and warn. `'reuse'`: return a recorded success instead of repeating it.
 * `'strict'`: refuse to repeat until the key is allowed.
 */
export type RunSafety = 'warn' | 'reuse' | 'strict'

/** Which earlier calls of its task an attempt counts: see {@link JournalOptions.lineage}. */
export type Lineage = 'auto' | 'fresh' | 'continued' | 'journaled'

/** Options of a run that concern keys, the journal and retries. */
export interface JournalOptions {
  /** Separates runs of different deployments that share run ids. @default '' */
  readonly namespace?: string | undefined
  /** `'task'` gives every call the documented key of the task. @default 'call' */
  readonly keyScope?: 'call' | 'task' | undefined
  /**
   * Makes the recorded hash of arguments an HMAC, so that short secrets cannot be guessed from it. Idempotency keys are
   * made from that hash, or they could be guessed from in its place: with another secret, a resumed run misses its
   * earlier calls. Keep the old one until open runs have ended.
   */
  readonly keySecret?: string | undefined
  /** @default 'warn' */
  readonly safety?: RunSafety | undefined
  /**
   * Whether this attempt continues the conversation of an earlier one. `'auto'` reads it off the messages;
   * `'continued'` counts every finished call of earlier attempts, also when the messages were pruned; `'fresh'` none.
   * `'journaled'` is for a workflow engine that replays the model's answers: a call of the task with the same `toolCallId`
   * and the same arguments is this very call, so what it returned is returned again, whatever the messages hold. The ids
   * must be unique within the task.
   *
   * @default 'auto'
   */
  readonly lineage?: Lineage | undefined
  /** What the log, events and traces must not see, beyond the default key names. */
  readonly redact?: RedactionOptions | undefined
  /** Limit of a recorded input, in bytes. @default maxOutputBytes */
  readonly maxInputBytes?: number | undefined
  /** Record stacks of errors. @default false */
  readonly errorStacks?: boolean | undefined
  /** How long a running call keeps its claim without renewing it, in milliseconds, at most one hour. @default 60_000 */
  readonly leaseMs?: number | undefined
  /** Aborts every call of the task. */
  readonly abortSignal?: AbortSignal | undefined
  /** Called when the log failed and the call went on without it. */
  readonly onLogError?: ((error: unknown) => void) | undefined
  /**
   * How much of an output the agent gets, in bytes. The full output is then in the run's state, and a note says how to
   * read it with `get_tool_response` of `@smithers/context-tools`. Needs a log whose `capabilities.state` is true.
   *
   * @default all of it
   */
  readonly maxInlineOutputBytes?: number | undefined
  /** Decides about calls that need approval at once, while the run continues. @default they wait, and the run pauses */
  readonly onApproval?: OnApproval | undefined
  /**
   * How long the log may take for one answer, in milliseconds; then it counts as unavailable. A call that is aborted, or
   * whose `timeoutMs` is over, does not wait that long.
   *
   * @default 30_000
   */
  readonly logTimeoutMs?: number | undefined
  /**
   * How long `onApproval` may take for one answer, in milliseconds. Then the request stays pending and the run pauses; an
   * answer that comes later still counts for the next attempt.
   *
   * @default 3_600_000 (one hour)
   */
  readonly approvalTimeoutMs?: number | undefined
  /** What watches the calls of the run; `false`: nothing does. @default what `registerToolTelemetry` was given */
  readonly telemetry?: ToolTelemetry | false | undefined
  /** Keep `approvalPreview` of tools with requests for approval. @default true */
  readonly previews?: boolean | undefined
  /**
   * Keep what calls change, for later: the log of a call whose tool has an `approvalPreview` with a `patch`, such as
   * `write`, `edit` and `replace`, gets that patch as `$patch` beside the logged arguments, redacted and cut to 64 KiB.
   * It is computed before the call is recorded, so such a call begins a little later. The contents of files are then in
   * the log.
   *
   * @default false
   */
  readonly recordContents?: boolean | undefined
}

/** {@link JournalOptions}, complete. */
export interface JournalPolicy {
  readonly namespace: string
  readonly keyScope: 'call' | 'task'
  readonly keySecret: string | undefined
  readonly safety: RunSafety
  readonly lineage: Lineage
  readonly redact: Redaction
  readonly maxInputBytes: number | undefined
  readonly errorStacks: boolean
  readonly leaseMs: number
  readonly abortSignal: AbortSignal | undefined
  readonly onLogError: (error: unknown) => void
  readonly onApproval: OnApproval | undefined
  readonly logTimeoutMs: number
  readonly approvalTimeoutMs: number
  readonly previews: boolean
  readonly recordContents: boolean
  readonly telemetry: ToolTelemetry | false | undefined
  readonly maxInlineOutputBytes: number | undefined
  /** An engine supplied a snapshot, so there is something to call. */
  readonly snapshots: boolean
  /** The run's id was made for it, so that the log cannot hold earlier calls. */
  readonly startsEmpty: boolean
}

/** Completes the options of a run, which have been checked. */
export function completeJournalOptions(
  options: JournalOptions,
  facts: Pick<JournalPolicy, 'snapshots' | 'startsEmpty'>,
): JournalPolicy {
  return Object.freeze({
    namespace: options.namespace ?? '',
    keyScope: options.keyScope ?? 'call',
    keySecret: options.keySecret,
    safety: options.safety ?? 'warn',
    lineage: options.lineage ?? 'auto',
    redact: options.redact === undefined ? usualSecrets : compileRedaction(options.redact),
    maxInputBytes: options.maxInputBytes,
    errorStacks: options.errorStacks ?? false,
    leaseMs: options.leaseMs ?? 60_000,
    abortSignal: options.abortSignal,
    onLogError: options.onLogError ?? ignore,
    onApproval: options.onApproval,
    logTimeoutMs: options.logTimeoutMs ?? 30_000,
    approvalTimeoutMs: options.approvalTimeoutMs ?? 3_600_000,
    previews: options.previews ?? true,
    recordContents: options.recordContents ?? false,
    telemetry: options.telemetry,
    maxInlineOutputBytes: options.maxInlineOutputBytes,
    ...facts,
  })
}

const usualSecrets = compileRedaction({})

function ignore(): void {}

import type {
  CallTelemetry,
  CallTelemetryEvents,
  FinishedCall,
  PartAttributes,
  PartTelemetry,
  ToolTelemetry,
  TracedCall,
  TracedOutcome,
} from '../contract/telemetry.ts'
import { registeredTelemetry } from '../contract/telemetry.ts'
import { isSmithersError } from '../errors/smithers-error.ts'
import type { CallSummary } from '../history/call-summary.ts'
import type { FinishPatch, StartRow } from '../log/tool-call-log.ts'
import type { CallOutcome } from './call-outcome.ts'
import { runWatched, watched } from './watched.ts'

/** What watches one call. No method throws. */
export class CallTrace {
  readonly traceId: string | null
  readonly spanId: string | null
  readonly #telemetry: ToolTelemetry
  readonly #call: CallTelemetry
  #isOver = false

  private constructor(telemetry: ToolTelemetry, call: CallTelemetry) {
    this.#telemetry = telemetry
    this.#call = call
    this.traceId = watched(telemetry, () => call.traceId) ?? null
    this.spanId = watched(telemetry, () => call.spanId) ?? null
  }

  /** Undefined when nothing watches the call. */
  static begin(chosen: ToolTelemetry | false | undefined, call: TracedCall): CallTrace | undefined {
    const telemetry = chosen ?? registeredTelemetry()
    if (telemetry === undefined || telemetry === false) return undefined
    const watching = watched(telemetry, () => telemetry.beginCall(call))
    return watching === undefined ? undefined : new CallTrace(telemetry, watching)
  }

  run<Result>(fn: () => Result): Result {
    return runWatched(this.#telemetry, (inner) => this.#call.run(inner), fn)
  }

  event<Name extends keyof CallTelemetryEvents>(
    name: Name,
    event: CallTelemetryEvents[Name],
  ): void {
    watched(this.#telemetry, () => this.#call.event(name, event))
  }

  started({ seq, idempotencyKey }: StartRow, logWriteMs: number): void {
    this.event('started', { seq, idempotencyKey, logWriteMs })
  }

  /** Earlier calls that this one repeats, or whose output it returns. */
  follows(earlier: CallSummary | undefined): void {
    if (earlier === undefined) return
    const { traceId, spanId, attempt } = earlier
    if (traceId !== null && spanId !== null) this.event('earlier', { traceId, spanId, attempt })
  }

  beginPart(name: string, attributes: PartAttributes): PartTelemetry | undefined {
    const call = this.#call
    const part = watched(this.#telemetry, () => call.beginPart?.(name, attributes))
    if (part === undefined) return undefined
    const traceContext = watched(this.#telemetry, () => part.traceContext) ?? {}
    return {
      traceContext,
      end: (end) => {
        watched(this.#telemetry, () => part.end(end))
      },
    }
  }

  /** The call is over; what comes later is ignored. */
  end(finished: () => FinishedCall): void {
    if (this.#isOver) return
    this.#isOver = true
    watched(this.#telemetry, () => this.#call.end(finished()))
  }
}

/** How a call ended of which the log knows nothing. */
export function lostCall(row: StartRow, ran: boolean, errorCode: string | null): FinishedCall {
  return { row, patch: null, outcome: 'error', errorCode, ran, logWriteMs: null }
}

/** How a call that the log knows ended. */
export function finishedCall(
  row: StartRow,
  patch: FinishPatch,
  end: {
    readonly outcome: CallOutcome
    readonly ran: boolean
    readonly result: 'ok' | 'fenced' | 'lost'
    readonly logWriteMs: number | null
  },
): FinishedCall {
  const { outcome, ran, result, logWriteMs } = end
  const error = outcome.status === 'error' ? outcome.error : undefined
  const errorCode = isSmithersError(error) ? error.code : null
  return {
    row,
    patch,
    outcome: result === 'fenced' ? 'fenced' : tracedOutcome(outcome, errorCode, ran),
    errorCode,
    ran,
    logWriteMs,
  }
}

function tracedOutcome(outcome: CallOutcome, code: string | null, ran: boolean): TracedOutcome {
  if (outcome.status === 'success') {
    if (outcome.fromCache === true) return 'cached'
    return outcome.replayOf === undefined ? 'success' : 'replayed'
  }
  if (code === 'TOOL_APPROVAL_REQUIRED') return 'waiting'
  if (!ran) return 'refused'
  // A command that exits with 1 may have changed something, too, but its outcome is known.
  const isCutOff = code !== null && cutOff.has(code)
  return isCutOff && outcome.effect === 'unknown' ? 'unknown' : 'error'
}

const cutOff: ReadonlySet<string> = new Set([
  'TOOL_ABORTED',
  'TOOL_CALL_FENCED',
  'TOOL_INTERRUPTED',
  'TOOL_OUTCOME_UNKNOWN',
  'TOOL_TIMEOUT',
])

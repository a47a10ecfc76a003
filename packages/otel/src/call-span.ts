import { context, type Span, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type {
  CallTelemetry,
  CallTelemetryEvents,
  FinishedCall,
  PartAttributes,
  PartTelemetry,
  TraceContext,
} from '@smithers/tool-core'
import { endAttributes } from './call-attributes.ts'
import type { CallMetrics } from './call-metrics.ts'
import type { TelemetrySettings } from './open-telemetry-options.ts'
import { scopeName } from './scope-name.ts'
import { addSpanEvent } from './span-event.ts'
import { idsOf, traceContextOf } from './trace-context.ts'

/** Shows one call on a span, its own or that of the AI SDK. */
export class CallSpan implements CallTelemetry {
  readonly traceId: string | null
  readonly spanId: string | null
  readonly #span: Span
  readonly #isOwned: boolean
  readonly #settings: TelemetrySettings
  readonly #metrics: CallMetrics | undefined

  constructor(
    span: Span,
    isOwned: boolean,
    settings: TelemetrySettings,
    metrics: CallMetrics | undefined,
  ) {
    this.#span = span
    this.#isOwned = isOwned
    this.#settings = settings
    this.#metrics = metrics
    const ids = idsOf(span)
    this.traceId = ids?.traceId ?? null
    this.spanId = ids?.spanId ?? null
  }

  run<Result>(fn: () => Result): Result {
    if (!this.#isOwned) return fn()
    return context.with(trace.setSpan(context.active(), this.#span), fn)
  }

  event<Name extends keyof CallTelemetryEvents>(
    name: Name,
    event: CallTelemetryEvents[Name],
  ): void {
    this.#metrics?.event(name, event)
    const given: Partial<CallTelemetryEvents> = { [name]: event }
    if (given.earlier !== undefined) this.#link(given.earlier)
    else addSpanEvent(this.#span, given)
  }

  beginPart(name: string, attributes: PartAttributes): PartTelemetry {
    const parent = trace.setSpan(context.active(), this.#span)
    const part = trace.getTracer(scopeName).startSpan(name, { attributes }, parent)
    return {
      traceContext: this.#contextOf(part),
      end: (end) => {
        part.setAttributes(end.attributes)
        if (end.failed) part.setStatus({ code: SpanStatusCode.ERROR })
        part.end()
      },
    }
  }

  end(call: FinishedCall): void {
    this.#metrics?.end(call)
    const span = this.#span
    span.setAttributes(endAttributes(call, this.#settings))
    const { outcome, errorCode } = call
    if (outcome === 'unknown' || outcome === 'fenced') addSpanEvent(span, { [outcome]: {} })
    // A call that was refused, or that waits, went as it should: error.type says why.
    if (outcome === 'error' || outcome === 'unknown' || outcome === 'fenced') {
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode ?? outcome })
    }
    if (this.#isOwned) span.end()
  }

  #contextOf(span: Span): TraceContext {
    return this.#settings.propagate ? traceContextOf(span) : {}
  }

  #link({ traceId, spanId, attempt }: CallTelemetryEvents['earlier']): void {
    const earlier = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
    // Spans of an SDK older than 1.9 of the API take links only when they begin.
    const span: Partial<Pick<Span, 'addLink'>> = this.#span
    const attributes = { 'smithers.task.attempt': attempt }
    if (span.addLink !== undefined) this.#span.addLink({ context: earlier, attributes })
    else this.#span.setAttribute('smithers.call.earlier', `${traceId}-${spanId}`)
  }
}

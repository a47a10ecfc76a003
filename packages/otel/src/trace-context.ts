import { isSpanContextValid, type Span, type SpanContext } from '@opentelemetry/api'
import type { TraceContext } from '@smithers/tool-core'

/** The ids of a span; undefined for one that no SDK made. */
export function idsOf(span: Span): SpanContext | undefined {
  const ids = span.spanContext()
  return isSpanContextValid(ids) ? ids : undefined
}

/** W3C trace context of a span, for a process that it starts. */
export function traceContextOf(span: Span): TraceContext {
  const ids = idsOf(span)
  if (ids === undefined) return {}
  const flags = ids.traceFlags.toString(16).padStart(2, '0')
  const tracestate = ids.traceState?.serialize() ?? ''
  return {
    traceparent: `00-${ids.traceId}-${ids.spanId}-${flags}`,
    ...(tracestate !== '' && { tracestate }),
  }
}

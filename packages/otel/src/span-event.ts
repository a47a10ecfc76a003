import type { Attributes, Span } from '@opentelemetry/api'
import type { CallTelemetryEvents } from '@smithers/tool-core'

/** What a span tells of its call: what the call reports, and how it ended when that needs a look. */
type SpanEvents = Partial<CallTelemetryEvents> & {
  readonly unknown?: object
  readonly fenced?: object
}

/** The one function that adds events: OpenTelemetry may replace events of spans by events of logs. */
export function addSpanEvent(span: Span, event: SpanEvents): void {
  if (!span.isRecording()) return
  for (const [name, attributes] of described(event)) {
    span.addEvent(`smithers.call.${name}`, attributes)
  }
}

function* described(event: SpanEvents): Generator<readonly [string, Attributes]> {
  const { started, retry, verify } = event
  if (started !== undefined) yield ['started', { 'smithers.call.seq': started.seq }]
  const claim = event['claim-wait']
  if (claim !== undefined) yield ['claim_wait', { 'smithers.claim.wait': claim.waitMs / 1000 }]
  const requested = event['approval-requested']
  if (requested !== undefined) {
    yield ['approval_requested', { 'smithers.approval.id': requested.approvalId }]
  }
  const decided = event['approval-decided']
  if (decided !== undefined) {
    const by =
      decided.decidedBy === null ? {} : { 'smithers.approval.decided_by': decided.decidedBy }
    yield [
      'approval_decided',
      {
        'smithers.approval.id': decided.approvalId,
        'smithers.approval.approved': decided.approved,
        'smithers.approval.wait': decided.waitMs / 1000,
        ...by,
      },
    ]
  }
  if (retry !== undefined) {
    yield [
      'retry',
      { 'smithers.retry.tries': retry.tries, 'smithers.retry.delay': retry.delayMs / 1000 },
    ]
  }
  if (verify !== undefined) yield ['verify', { 'smithers.verify.answer': verify.answer }]
  if (event.unknown !== undefined) yield ['unknown', {}]
  if (event.fenced !== undefined) yield ['fenced', {}]
}

import { createHash } from 'node:crypto'
import { codeOfHead } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { outcomeOf } from '../reading/outcome.ts'
import { readableError } from '../reading/readable-error.ts'

/** An attribute in OTLP's JSON. */
interface Attribute {
  readonly key: string
  readonly value:
    | { readonly stringValue: string }
    | { readonly intValue: string }
    | { readonly boolValue: boolean }
}

/** An `ExportTraceServiceRequest` of OTLP as JSON in parts: a span for each call, as `@smithers/otel` would have sent it. */
export async function* otlpOf(
  pages: AsyncIterable<readonly ToolCallRow[]>,
  nowMs: number,
): AsyncGenerator<string> {
  const resource = JSON.stringify({ attributes: attributes({ 'service.name': 'smithers' }) })
  const scope = JSON.stringify({ name: '@smithers/log-viewer' })
  yield `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[`
  let separator = ''
  for await (const rows of pages) {
    yield separator + rows.map((row) => JSON.stringify(spanOf(row, nowMs))).join(',')
    separator = ','
  }
  yield ']}]}]}'
}

function spanOf(row: ToolCallRow, nowMs: number): unknown {
  const outcome = outcomeOf(row, nowMs)
  const isError = ['failed', 'unknown', 'fenced'].includes(outcome)
  const error = readableError(row.errorJson)
  return {
    // A call that was made without telemetry has ids of its own, the same in every export.
    traceId: hexOr(row.traceId, 32, row.runId),
    spanId: hexOr(row.spanId, 16, row.callToken),
    name: `execute_tool ${row.toolName}`,
    kind: 1,
    startTimeUnixNano: nanos(row.startedAtMs),
    endTimeUnixNano: nanos(row.finishedAtMs ?? row.startedAtMs),
    attributes: attributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': row.toolName,
      'gen_ai.tool.call.id': row.toolCallId,
      'gen_ai.tool.type': 'function',
      'smithers.run.id': row.runId,
      'smithers.task.id': row.nodeId,
      'smithers.task.iteration': row.iteration,
      'smithers.task.attempt': row.attempt,
      'smithers.call.seq': row.seq,
      'smithers.call.token': row.callToken,
      'smithers.call.idempotency_key': row.idempotencyKey,
      'smithers.call.outcome': traced[outcome] ?? outcome,
      'smithers.call.effect': row.effect,
      'smithers.call.replay_of': row.replayOf,
      'smithers.tool.side_effect': row.sideEffect,
      'smithers.tool.idempotent': row.idempotent,
      'error.type':
        row.errorJson === null ? null : (codeOfHead(row.errorJson) ?? error?.name ?? null),
    }),
    status: isError ? { code: 2, message: error?.message ?? '' } : { code: 0 },
  }
}

/** Outcomes that telemetry calls by another name. */
const traced: Readonly<Record<string, string>> = { ok: 'success', failed: 'error' }

function attributes(
  values: Readonly<Record<string, string | number | boolean | null>>,
): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null) return []
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }]
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }]
    return [{ key, value: { intValue: String(value) } }]
  })
}

function hexOr(id: string | null, length: number, otherwise: string): string {
  if (id !== null && id.length === length && /^[0-9a-f]+$/.test(id)) return id
  return createHash('sha256').update(otherwise).digest('hex').slice(0, length)
}

// As text: more than a number of JSON can hold.
function nanos(atMs: number): string {
  return String(BigInt(Math.trunc(atMs)) * 1_000_000n)
}

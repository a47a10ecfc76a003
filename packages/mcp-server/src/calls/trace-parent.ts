import type { ServerContext } from '@modelcontextprotocol/server'

const pattern = /^[\da-f]{2}-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})$/

/** Runs `fn` with the client's span as the parent of what it traces, where OpenTelemetry is installed. */
export async function withTraceParent<Result>(
  meta: ServerContext['mcpReq']['_meta'],
  fn: () => Promise<Result>,
): Promise<Result> {
  const traceparent = meta?.['traceparent']
  const fields = typeof traceparent === 'string' ? pattern.exec(traceparent)?.groups : undefined
  if (fields === undefined) return fn()
  const api = await openTelemetry()
  if (api === undefined) return fn()
  const { traceId = '', spanId = '', flags = '' } = fields
  const traceFlags = Number.parseInt(flags, 16)
  const parent = { traceId, spanId, traceFlags, isRemote: true }
  return api.context.with(api.trace.setSpanContext(api.context.active(), parent), fn)
}

type OpenTelemetry = typeof import('@opentelemetry/api')

let loading: Promise<OpenTelemetry | undefined> | undefined

/** Loaded when a client sends a span. Who traces has it. */
function openTelemetry(): Promise<OpenTelemetry | undefined> {
  loading ??= import('@opentelemetry/api').catch(() => undefined)
  return loading
}

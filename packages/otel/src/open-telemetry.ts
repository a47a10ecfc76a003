import {
  createNoopMeter,
  isSpanContextValid,
  metrics,
  ProxyTracer,
  trace,
} from '@opentelemetry/api'
import type { CallTelemetry, ToolTelemetry, TracedCall } from '@smithers/tool-core'
import { callAttributes } from './call-attributes.ts'
import { CallMetrics, type Instruments, instrumentsOf } from './call-metrics.ts'
import { CallSpan } from './call-span.ts'
import {
  completeOptions,
  type OpenTelemetryOptions,
  type TelemetrySettings,
} from './open-telemetry-options.ts'
import { scopeName } from './scope-name.ts'
import { beginWorkSpan } from './work-span.ts'

/**
 * Shows each call of a tool as a span `execute_tool NAME`, with metrics beside it, through the OpenTelemetry API of the
 * application. The span of the AI SDK, where there is one, gets the attributes instead of a second span. Without an
 * OpenTelemetry SDK nothing happens.
 *
 * @throws TypeError for an option that does not exist, or is not a boolean
 * @example
 * registerToolTelemetry(openTelemetry())
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): ToolTelemetry {
  const settings = completeOptions(options)
  const instruments = currentInstruments()
  return {
    beginCall: (call): CallTelemetry | undefined => beginCall(call, settings, instruments()),
    beginWork: beginWorkSpan,
  }
}

function beginCall(
  call: TracedCall,
  settings: TelemetrySettings,
  instruments: Instruments | undefined,
): CallTelemetry | undefined {
  const tracer = trace.getTracer(scopeName)
  // The API hands out its own tracer as long as no SDK is registered.
  if (tracer instanceof ProxyTracer && instruments === undefined) return undefined
  const active = trace.getActiveSpan()
  // The AI SDK has begun a span for this very call: it gets our attributes, and its owner ends it.
  const isTheirs = active !== undefined && isSpanOf(active, call)
  const attributes = callAttributes(call)
  const span = isTheirs
    ? active.setAttributes(attributes)
    : tracer.startSpan(`execute_tool ${call.toolName}`, { attributes })
  if (!isSpanContextValid(span.spanContext()) && instruments === undefined) return undefined
  const measured = instruments === undefined ? undefined : new CallMetrics(instruments, call)
  return new CallSpan(span, !isTheirs, settings, measured)
}

/** Whether a span of an SDK shows this call: the attributes of other spans cannot be read. */
function isSpanOf(span: object, { toolCallId }: TracedCall): boolean {
  const { attributes } = span as { readonly attributes?: Readonly<Record<string, unknown>> }
  return (
    toolCallId !== null &&
    attributes?.['gen_ai.operation.name'] === 'execute_tool' &&
    attributes['gen_ai.tool.call.id'] === toolCallId
  )
}

/** Instruments of the provider that is registered now: one may be registered after the first call. */
function currentInstruments(): () => Instruments | undefined {
  let provider: unknown
  let instruments: Instruments | undefined
  return () => {
    const registered = metrics.getMeterProvider()
    if (registered !== provider) {
      provider = registered
      const meter = registered.getMeter(scopeName)
      instruments = meter === createNoopMeter() ? undefined : instrumentsOf(meter)
    }
    return instruments
  }
}

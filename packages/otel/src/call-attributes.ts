import type { Attributes } from '@opentelemetry/api'
import type { FinishedCall, TracedCall } from '@smithers/tool-core'
import type { TelemetrySettings } from './open-telemetry-options.ts'

/** Attributes that a call has from its begin. */
export function callAttributes(call: TracedCall): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.toolName,
    'gen_ai.tool.type': 'function',
    ...(call.toolCallId !== null && { 'gen_ai.tool.call.id': call.toolCallId }),
    'smithers.run.id': call.runId,
    'smithers.task.id': call.nodeId,
    'smithers.task.iteration': call.iteration,
    'smithers.task.attempt': call.attempt,
    'smithers.call.token': call.callToken,
    'smithers.tool.side_effect': call.sideEffect,
    'smithers.tool.idempotent': call.idempotent,
  }
}

/** Attributes that a call has once it is over. */
export function endAttributes(
  { row, patch, outcome, errorCode }: FinishedCall,
  { recordInputs, recordOutputs }: TelemetrySettings,
): Attributes {
  const outputJson = patch?.outputJson ?? null
  return {
    'smithers.call.outcome': outcome,
    'smithers.call.seq': row.seq,
    ...(patch !== null && { 'smithers.call.effect': patch.effect }),
    ...(row.idempotencyKey !== null && { 'smithers.call.idempotency_key': row.idempotencyKey }),
    ...(typeof patch?.replayOf === 'string' && { 'smithers.call.replay_of': patch.replayOf }),
    ...(outputJson !== null && { 'smithers.call.output_bytes': Buffer.byteLength(outputJson) }),
    ...errorAttributes(outcome, errorCode),
    // Mapped, redacted and cut: what the log holds, and nothing else.
    ...(recordInputs && row.inputJson !== null && { 'gen_ai.tool.call.arguments': row.inputJson }),
    ...(recordOutputs && outputJson !== null && { 'gen_ai.tool.call.result': outputJson }),
  }
}

/** `_OTHER` is the semantic conventions' word for an error without a known code. */
export function errorAttributes(
  outcome: FinishedCall['outcome'],
  errorCode: string | null,
): Attributes {
  const succeeded = outcome === 'success' || outcome === 'replayed' || outcome === 'cached'
  return succeeded ? {} : { 'error.type': errorCode ?? '_OTHER' }
}

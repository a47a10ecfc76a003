import { type Attributes, context, SpanStatusCode, trace } from '@opentelemetry/api'
import { isSmithersError, type TracedWork, type WorkTelemetry } from '@smithers/tool-core'
import { scopeName } from './scope-name.ts'
import { idsOf } from './trace-context.ts'

/** Begins the span of a workflow or of an attempt of a task. */
export function beginWorkSpan(work: TracedWork): WorkTelemetry | undefined {
  const span = trace
    .getTracer(scopeName)
    .startSpan(nameOf(work), { attributes: attributesOf(work) })
  if (idsOf(span) === undefined) return undefined
  return {
    run: (fn) => context.with(trace.setSpan(context.active(), span), fn),
    rename: (name) => {
      span.updateName(`invoke_workflow ${name}`)
      span.setAttribute('gen_ai.workflow.name', name)
    },
    end: (error) => {
      if (error !== undefined) {
        const code = isSmithersError(error) ? error.code : '_OTHER'
        span.setAttribute('error.type', code)
        // A run that waits for a decision, or that was stopped, did as it was asked.
        if (!asked.has(code)) span.setStatus({ code: SpanStatusCode.ERROR, message: code })
      }
      span.end()
    },
  }
}

const asked: ReadonlySet<string> = new Set(['TOOL_APPROVAL_REQUIRED', 'WORKFLOW_STOPPED'])

function nameOf(work: TracedWork): string {
  if (work.kind === 'task') return `task ${work.nodeId}`
  return work.name === null ? 'invoke_workflow' : `invoke_workflow ${work.name}`
}

function attributesOf(work: TracedWork): Attributes {
  if (work.kind === 'task') {
    return {
      'smithers.run.id': work.runId,
      'smithers.task.id': work.nodeId,
      'smithers.task.iteration': work.iteration,
      'smithers.task.attempt': work.attempt,
    }
  }
  return {
    'gen_ai.operation.name': 'invoke_workflow',
    ...(work.name !== null && { 'gen_ai.workflow.name': work.name }),
    'smithers.run.id': work.runId,
  }
}

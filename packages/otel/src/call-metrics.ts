import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api'
import type { CallTelemetryEvents, FinishedCall, TracedCall } from '@smithers/tool-core'
import { errorAttributes } from './call-attributes.ts'

/** What is measured of calls. */
export interface Instruments {
  readonly duration: Histogram
  readonly calls: Counter
  readonly retries: Counter
  readonly approvalWait: Histogram
  readonly claimWait: Histogram
  readonly logWrite: Histogram
  readonly running: UpDownCounter
}

export function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, description: string): Histogram =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } })
  return {
    duration: seconds('gen_ai.execute_tool.duration', 'Time that calls ran.'),
    calls: meter.createCounter('smithers.tool.calls', {
      description: 'Calls that are over.',
      unit: '{call}',
    }),
    retries: meter.createCounter('smithers.tool.retries', {
      description: 'Further tries of functions of tools.',
      unit: '{retry}',
    }),
    approvalWait: seconds('smithers.approval.wait', 'Time from a request to its decision.'),
    claimWait: seconds(
      'smithers.claim.wait',
      'Time that calls waited for the holder of their key.',
    ),
    logWrite: seconds('smithers.log.write', 'Time that the log took to store a start or an end.'),
    running: meter.createUpDownCounter('smithers.calls.running', {
      description: 'Calls that are not over.',
      unit: '{call}',
    }),
  }
}

/** From 100 µs, a row in SQLite, to a quarter of an hour, a long command. */
const explicitBucketBoundaries = [
  0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900,
]

/**
 * Measures one call. Attributes are the tool, the outcome and the error's code: a run, a task, a key or a path would
 * make a new series each.
 */
export class CallMetrics {
  readonly #instruments: Instruments
  readonly #tool: Attributes
  #startedAt: number | undefined

  constructor(instruments: Instruments, { toolName }: TracedCall) {
    this.#instruments = instruments
    this.#tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': toolName }
    instruments.running.add(1, this.#tool)
  }

  event<Name extends keyof CallTelemetryEvents>(
    name: Name,
    event: CallTelemetryEvents[Name],
  ): void {
    const { retries, approvalWait, claimWait, logWrite } = this.#instruments
    const given: Partial<CallTelemetryEvents> = { [name]: event }
    if (given.started !== undefined) {
      this.#startedAt = performance.now()
      logWrite.record(given.started.logWriteMs / 1000, this.#tool)
    }
    const claim = given['claim-wait']
    if (claim !== undefined) claimWait.record(claim.waitMs / 1000, this.#tool)
    const decided = given['approval-decided']
    if (decided !== undefined) approvalWait.record(decided.waitMs / 1000, this.#tool)
    if (given.retry !== undefined) retries.add(1, this.#tool)
  }

  end({ outcome, errorCode, ran, logWriteMs }: FinishedCall): void {
    const { running, calls, duration, logWrite } = this.#instruments
    const ended = { ...this.#tool, ...errorAttributes(outcome, errorCode) }
    running.add(-1, this.#tool)
    calls.add(1, { ...ended, 'smithers.call.outcome': outcome })
    if (logWriteMs !== null) logWrite.record(logWriteMs / 1000, this.#tool)
    if (ran && this.#startedAt !== undefined) {
      duration.record((performance.now() - this.#startedAt) / 1000, ended)
    }
  }
}

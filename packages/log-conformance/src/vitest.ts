import { describe, it } from 'vitest'
import type { LogConformanceOptions } from './conformance-options.ts'
import { logConformance as defineTests } from './run-log-conformance.ts'

/**
 * Defines the tests that an adapter of the log must pass, in vitest.
 *
 * @throws TypeError when the options contradict themselves.
 */
export function logConformance(options: LogConformanceOptions): void {
  defineTests({ describe, it }, options)
}

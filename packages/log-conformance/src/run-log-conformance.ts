import type { LogConformanceOptions } from './conformance-options.ts'
import { suiteFor } from './conformance-suite.ts'

/** The two functions of a test runner that the suite uses. Those of vitest, jest, `bun:test` and `node:test` fit. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown
  readonly it: {
    (name: string, run: () => Promise<void>, timeoutMs?: number): unknown
    skip(name: string, run: () => void): unknown
  }
}

/** What became of one test. */
export interface ConformanceResult {
  /** Number and name of the group: `'4 claims'`. */
  readonly group: string
  readonly test: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it was skipped. */
  readonly reason?: string
  /** Why it failed. */
  readonly error?: unknown
}

/**
 * Defines the tests that an adapter of the log must pass, in a test runner. Assertions are those of `node:assert`.
 *
 * @throws TypeError when the options contradict themselves.
 */
export function logConformance(runner: TestRunner, options: LogConformanceOptions): void {
  const tests = suiteFor(options)
  runner.describe(`the ${options.name} log`, () => {
    for (const group of new Set(tests.map((test) => test.group))) {
      runner.describe(group, () => {
        const members = tests.filter((test) => test.group === group)
        const reason = members[0]?.skipped ?? null
        // A group that does not apply is one thing that does not apply.
        if (reason !== null && members.every(({ skipped }) => skipped === reason)) {
          runner.it.skip(`all ${members.length} tests (${reason})`, () => {})
          return
        }
        for (const { name, skipped, run } of members) {
          if (skipped === null) runner.it(name, run, timeoutMs)
          else runner.it.skip(`${name} (${skipped})`, () => {})
        }
      })
    }
  })
}

// The longest test starts and kills dozens of processes.
const timeoutMs = 300_000

/**
 * Runs the tests that an adapter of the log must pass, one after the other and without a test runner.
 *
 * @throws TypeError when the options contradict themselves.
 */
export async function runLogConformance(
  options: LogConformanceOptions,
): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = []
  for (const { group, name: test, skipped, run } of suiteFor(options)) {
    if (skipped !== null) {
      results.push({ group, test, outcome: 'skipped', reason: skipped })
      continue
    }
    try {
      await run()
      results.push({ group, test, outcome: 'passed' })
    } catch (error) {
      results.push({ group, test, outcome: 'failed', error })
    }
  }
  return results
}

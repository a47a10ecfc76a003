import { createSandbox } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import { failureCases } from './fixtures/failure-cases.ts'
import { runFailures } from './fixtures/failures.ts'

const { report } = await createSandbox({ rootDir: '.', warn: () => {} })
// What a model reads of the network and of isolation depends on the backend.
const isMeasured = report.backend === 'namespaces'
const failures = isMeasured ? await runFailures() : []

/** What a model cannot do, or what only its developer could. */
const impossible =
  /have the (?:network|timeout|limit)|allowNetwork|network: '|limits\.|createBuiltinTools|createSandbox|npm install -g|apt-get/i

describe.skipIf(!isMeasured)('what a model reads of a failure', () => {
  test('is known for at least 60 of them', () => {
    expect(failureCases.length).toBeGreaterThanOrEqual(60)
  })

  test.each(failureCases.map((each, index) => ({ ...each, index })))(
    '$index: $tool says what to do next after $input',
    ({ code, says, index }) => {
      const { message, code: actual } = failures[index]!
      expect({ actual, message }).toEqual({ actual: code, message: expect.stringMatching(says) })
      expect(message).not.toMatch(impossible)
      // One short line of advice, besides what a program printed.
      expect((message.split(' Output:\n')[0] ?? '').length).toBeLessThan(700)
    },
  )
})

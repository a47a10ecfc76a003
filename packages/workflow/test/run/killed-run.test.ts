import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linesOfRun, type RunOutcome, runKilled } from '../fixtures/kill-rounds.ts'

let directory: string
let undisturbed: RunOutcome

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'smithers-killed-'))
  undisturbed = await runKilled(directory, [])
})

afterAll(() => rmSync(directory, { recursive: true }))

// `pnpm bench killed-runs` counts what the kills met.
const rounds = 50

describe('a run of five tasks that is killed and resumed', () => {
  test('makes ten effects when it is not disturbed', () => {
    expect(undisturbed.killedAfter).toEqual([])
    expect([...undisturbed.effects.values()]).toEqual(Array.from({ length: 10 }, () => 1))
  })

  test.each(Array.from({ length: rounds }, (_, round) => round))(
    'ends with the same outputs and no effect twice, round %i',
    async (round) => {
      // One kill in each stretch of the run, at a random step of it, and another in what was resumed.
      const first = Math.floor(((round + Math.random()) / rounds) * linesOfRun)
      const second = Math.floor(Math.random() * 20)
      const run = await runKilled(directory, [first, second])
      const { killedAfter } = run
      // The steps are part of what is compared, so that a failure names them.
      expect({ killedAfter, result: run.result }).toEqual({
        killedAfter,
        result: undisturbed.result,
      })
      const foreign = [...run.effects.keys()].filter((effect) => !undisturbed.effects.has(effect))
      const twice = [...run.effects].filter(([, count]) => count > 1)
      const missing = [...undisturbed.effects.keys()].filter((effect) => !run.effects.has(effect))
      const unreported = missing.filter((effect) => !run.unknown.has(effect))
      const lostCharges = missing.filter((effect) => effect.startsWith('charge'))
      expect({ killedAfter, foreign, twice, unreported, lostCharges }).toEqual({
        killedAfter,
        foreign: [],
        twice: [],
        unreported: [],
        lostCharges: [],
      })
    },
  )
})

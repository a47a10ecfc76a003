import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linesOfRun, type RunOutcome, runKilled } from './fixtures/kill-rounds.ts'

let directory: string
let undisturbed: RunOutcome

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'smithers-killed-'))
  undisturbed = await runKilled(directory, [])
})

afterAll(() => rmSync(directory, { recursive: true }))

// `pnpm bench killed-runs` does this 50 times.
const rounds = 12

describe('a run of five tasks that is killed and resumed', () => {
  test('makes ten effects when nobody disturbs it', () => {
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
      const told = `killed after ${run.killedAfter.join(' and ')}`
      expect(run.result, told).toBe(undisturbed.result)
      for (const [effect, count] of run.effects) {
        expect(undisturbed.effects.has(effect), `${effect}, ${told}`).toBe(true)
        expect(count, `${effect}, ${told}`).toBe(1)
      }
      const missing = [...undisturbed.effects.keys()].filter((effect) => !run.effects.has(effect))
      for (const effect of missing) {
        expect(effect, told).toMatch(/^notify/)
        expect([...run.unknown], told).toContain(effect)
      }
    },
  )
})

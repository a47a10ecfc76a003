import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSandboxFiles } from '@smithers/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNaiveFiles } from '../fixtures/naive-files.ts'
import { createRaceArena } from '../fixtures/race-arena.ts'
import type { RaceArena } from '../fixtures/race-arena.ts'
import { guardedFiles, race, raceKinds } from '../fixtures/raced-files.ts'
import type { RacedFiles } from '../fixtures/raced-files.ts'
import { startSwapper } from '../fixtures/swapper.ts'
import type { Swapper } from '../fixtures/swapper.ts'

const kinds = Object.keys(raceKinds) as (keyof RacedFiles)[]

// Short: `pnpm bench races` does the same for at least a million operations.
describe.runIf(process.platform === 'linux')(
  'files whose paths are exchanged while they are used',
  () => {
    let arena: RaceArena
    let swapper: Swapper
    beforeAll(async () => {
      arena = createRaceArena()
      swapper = await startSwapper(arena.pairs)
    })
    afterAll(async () => {
      await swapper.stop()
      arena.remove()
    })

    it('are breached when they are checked by realpath first: the attack works', async () => {
      const naive = createNaiveFiles(arena.root)
      let escaped = 0
      // As many rounds as a loaded machine may need, where the attacker may be off the processor; usually the first
      // breaches.
      while (escaped === 0) {
        // Nothing else would let the time limit of the test be noticed.
        await nextTurn()
        for (const kind of ['read', 'write', 'create'] as const) {
          escaped += (await race(kind, naive, arena, 500)).escaped
        }
      }
      expect(escaped).toBeGreaterThan(0)
    })

    it.each(kinds)('stay inside the root: %s', async (kind) => {
      const files = createSandboxFiles({ rootDir: arena.root })
      expect(files.guard).toBe('beneath')
      const total = { done: 0, escaped: 0 }
      // An operation that is always refused would stay inside, too: on until some have succeeded, usually one round.
      // While the attacker is off the processor, all of them may be refused.
      while (total.done === 0) {
        await nextTurn()
        // A tree takes many calls to remove: fewer trees are as many operations.
        const operations = kind === 'removeTree' ? 60 : 400
        const { done, escaped } = await race(kind, guardedFiles(files), arena, operations)
        total.done += done
        total.escaped += escaped
      }
      files.close()
      expect(total.escaped).toBe(0)
      expect(total.done).toBeGreaterThan(0)
    })
  },
)

import { byEffort } from '../../../../scripts/bench/effort.ts'
import type { Arena } from './arena.ts'
import { connect, type ServerKind, type Side } from './servers.ts'

const warmUp = byEffort({ full: 200, short: 200, quick: 1 })
const starts = byEffort({ full: 9, short: 9, quick: 1 })

/** Reads a kilobyte from both in turns, so that a slow moment of the machine falls on both. Milliseconds. */
export async function timeReads(
  mine: Side,
  other: Side,
  reads: number,
): Promise<readonly [readonly number[], readonly number[]]> {
  const times: [number[], number[]] = [[], []]
  for (let index = 0; index < reads + warmUp; index += 1) {
    const order = index % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    for (const which of order) {
      const startedAt = performance.now()
      await (which === 0 ? mine : other).read('kilobyte.txt')
      if (index >= warmUp) times[which].push(performance.now() - startedAt)
    }
  }
  return times
}

/** From the start of the process to the answer of the handshake, in turns. Milliseconds of each. */
export async function timeStarts(
  kinds: readonly ServerKind[],
  arena: Arena,
): Promise<readonly (readonly number[])[]> {
  const times = kinds.map((): number[] => [])
  for (let round = 0; round < starts; round += 1) {
    for (const [index, kind] of kinds.entries()) {
      const startedAt = performance.now()
      const side = await connect(kind, arena)
      times[index]?.push(performance.now() - startedAt)
      await side.close()
    }
  }
  return times
}

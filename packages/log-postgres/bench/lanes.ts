import type { Contender } from './contender.ts'

/** Microseconds of each of a number of pairs, one after another. */
export async function timesOfPairs(
  contender: Contender,
  lane: string,
  count: number,
): Promise<number[]> {
  const times: number[] = []
  for (let seq = 1; seq <= count; seq += 1) {
    const from = performance.now()
    await contender.pair(lane, seq)
    times.push((performance.now() - from) * 1000)
  }
  return times
}

/** Pairs a second while a number of lanes make one after another for a time. */
export async function pairsPerSecond(
  contender: Contender,
  {
    lanes,
    forMs,
    prefix,
  }: { readonly lanes: number; readonly forMs: number; readonly prefix: string },
): Promise<number> {
  const from = performance.now()
  let pairs = 0
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let seq = 1; performance.now() - from < forMs; seq += 1) {
        await contender.pair(`${prefix}-${lane}`, seq)
        pairs += 1
      }
    }),
  )
  return (pairs * 1000) / (performance.now() - from)
}

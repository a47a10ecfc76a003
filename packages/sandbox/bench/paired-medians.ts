import { cpus, release } from 'node:os'

/** A job done in two ways, and the ratio that was promised. */
export interface PairedJob {
  readonly name: string
  /** Ours over plain, at most; undefined when it only informs. */
  readonly target?: number
  readonly ours: (round: number) => Promise<unknown>
  readonly plain: (round: number) => Promise<unknown>
}

const rounds = 400
const warmUp = 50

/**
 * Runs the two ways of each job in turns, so that a slow moment of the machine falls on both, and prints the medians.
 * Returns whether every target was met.
 */
export async function printPairedMedians(jobs: readonly PairedJob[]): Promise<boolean> {
  console.log(
    `median of ${rounds}, microseconds; ${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}\n`,
  )
  console.log(
    `${'job'.padEnd(44)}${'ours'.padStart(9)}${'plain'.padStart(9)}${'ratio'.padStart(8)}  target`,
  )
  let allMet = true
  for (const { name, target, ours, plain } of jobs) {
    const times: { ours: number[]; plain: number[] } = { ours: [], plain: [] }
    for (let round = 0; round < rounds + warmUp; round += 1) {
      const oursFirst = round % 2 === 0
      const first = await timed(oursFirst ? ours : plain, round)
      const second = await timed(oursFirst ? plain : ours, round)
      if (round < warmUp) continue
      times.ours.push(oursFirst ? first : second)
      times.plain.push(oursFirst ? second : first)
    }
    const [a, b] = [median(times.ours), median(times.plain)]
    const isMet = target === undefined || a / b <= target
    allMet &&= isMet
    const conclusion =
      target === undefined ? '' : `≤ ${target.toFixed(2)} ${isMet ? 'met' : 'MISSED'}`
    console.log(
      `${name.padEnd(44)}${a.toFixed(0).padStart(9)}${b.toFixed(0).padStart(9)}${(a / b).toFixed(2).padStart(8)}  ${conclusion}`,
    )
  }
  return allMet
}

async function timed(work: (round: number) => Promise<unknown>, round: number): Promise<number> {
  const startedAt = performance.now()
  await work(round)
  return (performance.now() - startedAt) * 1000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

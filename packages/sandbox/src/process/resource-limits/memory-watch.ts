import { readFileSync } from 'node:fs'

/** Often enough to catch a runaway before the machine swaps, seldom enough not to be seen in a profile. */
const intervalMs = 100

/**
 * Calls `onExceeded` when the processes of a tree together hold more memory than `memoryMb`. Returns how to stop.
 *
 * A stand-in where no control group can be made: it looks ten times a second, so a command can overshoot in between,
 * and memory that processes share is counted once for each.
 */
export function watchMemory(
  processes: () => readonly number[],
  memoryMb: number,
  onExceeded: () => void,
): () => void {
  const timer = setInterval(() => {
    const kibibytes = processes().reduce((sum, pid) => sum + privateKibibytes(pid), 0)
    if (kibibytes > memoryMb * 1024) {
      clearInterval(timer)
      onExceeded()
    }
  }, intervalMs)
  return () => clearInterval(timer)
}

function privateKibibytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce(
      (sum, [, kibibytes]) => sum + Number(kibibytes),
      0,
    )
  } catch {
    return 0
  }
}

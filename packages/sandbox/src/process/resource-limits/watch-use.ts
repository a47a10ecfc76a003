import { readFileSync } from 'node:fs'

/** Often enough to catch a runaway before the machine swaps, seldom enough not to be seen in a profile. */
const intervalMs = 100

/** A limit that is kept by looking. */
export interface WatchedLimit {
  readonly limit: number
  /** False when the tree cannot have reached the limit, at a cost far below that of looking at its processes. */
  readonly mayBeReached: () => boolean
}

/** What is watched of one command; `null` where something better limits it. */
export interface WatchedUse {
  /** In MiB, of all processes together. */
  readonly memoryMb: WatchedLimit | null
  /** Processes and threads. */
  readonly processes: WatchedLimit | null
}

/** The first limit that a tree exceeded. */
export type ExceededLimit = keyof WatchedUse

/**
 * Calls `onExceeded` when the processes of a tree exceed a limit. Returns how to stop.
 *
 * A stand-in where no control group is made: it looks ten times a second, so a command can overshoot in between, and
 * memory that processes share is counted once for each.
 */
export function watchUse(
  processes: () => readonly number[],
  { memoryMb, processes: count }: WatchedUse,
  onExceeded: (limit: ExceededLimit) => void,
): () => void {
  const timer = setInterval(() => {
    const looksAtMemory = memoryMb?.mayBeReached() === true
    const looksAtCount = count?.mayBeReached() === true
    if (!looksAtMemory && !looksAtCount) return
    const use = useOf(processes())
    const exceeded =
      looksAtMemory && use.kibibytes > memoryMb.limit * 1024
        ? 'memoryMb'
        : looksAtCount && use.threads > count.limit
          ? 'processes'
          : undefined
    if (exceeded === undefined) return
    clearInterval(timer)
    onExceeded(exceeded)
  }, intervalMs)
  return () => clearInterval(timer)
}

function useOf(pids: readonly number[]): { kibibytes: number; threads: number } {
  const use = { kibibytes: 0, threads: 0 }
  for (const pid of pids) {
    let status: string
    try {
      status = readFileSync(`/proc/${pid}/status`, 'latin1')
    } catch {
      // Ended since.
      continue
    }
    for (const [, kibibytes] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) {
      use.kibibytes += Number(kibibytes)
    }
    use.threads += Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 1)
  }
  return use
}

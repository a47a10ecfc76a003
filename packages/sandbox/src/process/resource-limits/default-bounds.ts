import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { defaultProcesses, type ResolvedLimits } from '../../options/limits.ts'
import type { WatchedLimit, WatchedUse } from './watch-use.ts'

/** The share of the machine's memory that a command may use when it was given no limit. */
const memoryShare = 0.75

function defaultMemory(): WatchedLimit {
  const machineBytes = memoryOfMachine()
  return {
    limit: Math.floor((machineBytes * memoryShare) / (1024 * 1024)),
    // Somewhat before the rest is all that is left.
    mayBeReached: () => process.availableMemory() < machineBytes * (1.1 - memoryShare),
  }
}

function defaultThreads(): WatchedLimit {
  const threadsBefore = threadsOfMachine()
  return {
    limit: defaultProcesses,
    // Others may have ended meanwhile.
    mayBeReached: () => threadsOfMachine() - threadsBefore > defaultProcesses / 2,
  }
}

/**
 * What to watch of a command, given what the kernel limits already. A command that was given no bounds gets three quarters
 * of the memory of this machine, or of the control group that this process is in, and 4 096 processes and threads. Builds
 * that need more memory make the machine swap. The type check of this repository takes 1.1 GB; a build starts a few
 * processes for each core, each with some ten threads.
 *
 * Processes are looked at only while free memory is short, or far more threads run on the machine than at the start.
 */
export function watchedUse(
  limits: Pick<ResolvedLimits, 'memoryMb' | 'processes'>,
  byKernel: { readonly memoryMb: boolean; readonly processes: boolean },
): WatchedUse {
  // Each default reads the state of the machine, so only where it is watched.
  const watched = (name: keyof WatchedUse, ofMachine: () => WatchedLimit): WatchedLimit | null => {
    if (byKernel[name]) return null
    const limit = limits[name]
    return limit === null ? ofMachine() : { limit, mayBeReached: () => true }
  }
  return {
    memoryMb: watched('memoryMb', defaultMemory),
    processes: watched('processes', defaultThreads),
  }
}

function memoryOfMachine(): number {
  const constrained = process.constrainedMemory()
  // Without a control group it is 0, or larger than any memory.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

function threadsOfMachine(): number {
  try {
    return Number(/\/(\d+) /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

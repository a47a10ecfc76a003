import { readdirSync, openSync, readFileSync, readSync, readlinkSync } from 'node:fs'

/** Marks every process of one command, so that a search recognises those that left its group and session. */
export const markerVariable = 'SMITHERS_SANDBOX_RUN'

/** How to recognise the processes of one command. */
export interface ProcessTree {
  /** Of the command itself, which leads its own group and session. */
  readonly pid: number
  /** Value of the marker variable in the environment of each of its descendants. */
  readonly marker: string
}

export interface SurvivorSearch {
  /** Also follow the parents from the command itself. Only while its process exists: later its number may be reused. */
  readonly parentChain: boolean
  /** Look only at numbers above the command's. Right when the command was short, since numbers are given out upwards. */
  readonly onlyLater: boolean
}

/** What a search found. */
export interface Survivors {
  readonly pids: readonly number[]
  /**
   * True when the search may have missed one: a process started meanwhile, or one had an empty environment, as during
   * `exec`. A process that cleared its environment looks the same, so this may stay true.
   */
  readonly unsure: boolean
  /** True when one had no arguments either: it is within `exec`, and shows what it is when it has left it. */
  readonly changing: boolean
}

/**
 * Live processes of `tree`: same session or group, same marker in the environment, or a descendant of one of those.
 * Zombies are not counted. Without a `/proc` of our own process namespace: none, and group kill is all there is.
 */
export function findSurvivors(
  tree: ProcessTree,
  { parentChain, onlyLater }: SurvivorSearch,
): Survivors {
  if (!ownProc()) return { pids: [], unsure: false, changing: false }
  let unsure = false
  let changing = false
  const lastBefore = lastProcess()
  const after = onlyLater && lastBefore > tree.pid ? tree.pid : 0
  const all = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > after)
    .map(readStat)
  const found = new Set<number>()
  for (const stat of all) {
    if (stat === null || stat.pid === process.pid) continue
    if (stat.session === tree.pid || stat.group === tree.pid) {
      found.add(stat.pid)
      continue
    }
    const environment = memoryOf(stat.pid, 'environ')
    if (environment.includes(`${markerVariable}=${tree.marker}`)) found.add(stat.pid)
    else if (environment === '' && stat.parent !== kernelThreads) {
      unsure = true
      changing ||= memoryOf(stat.pid, 'cmdline') === ''
    }
  }
  const parents = new Set(found)
  if (parentChain) parents.add(tree.pid)
  // Children have no order in /proc (numbers wrap), so walk until nothing is added.
  for (let grown = true; grown;) {
    grown = false
    for (const stat of all) {
      if (stat === null || found.has(stat.pid) || !parents.has(stat.parent)) continue
      found.add(stat.pid)
      parents.add(stat.pid)
      grown = true
    }
  }
  return { pids: [...found], unsure: unsure || lastProcess() !== lastBefore, changing }
}

/**
 * False when the kernel has started no process since `pid`, the usual end of a short command: then it has left nothing
 * behind. True when it has, or when that cannot be known.
 */
export function processesStartedSince(pid: number): boolean {
  return ownProc() && lastProcess() !== pid
}

/** The process number given out last. Numbers wrap, so a smaller one than a known process's says "look everywhere". */
function lastProcess(): number {
  // Kept open: the kernel writes it anew for each reading from the start, and every command asks.
  loadAverage ??= openSync('/proc/loadavg', 'r')
  const length = readSync(loadAverage, average, 0, average.length, 0)
  return Number(average.toString('latin1', 0, length).trim().split(' ').at(-1))
}

let loadAverage: number | undefined
const average = Buffer.alloc(128)

/** The parent of the kernel's own threads, which have no environment. */
const kernelThreads = 2

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command's name, in parentheses, may hold anything, also spaces and parentheses.
    const [state, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return null
    return { pid, parent: Number(parent), group: Number(group), session: Number(session) }
  } catch {
    return null
  }
}

/** Empty until `exec` has written it. */
function memoryOf(pid: number, part: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${part}`, 'latin1')
  } catch {
    // Another user's process, or gone: not one of ours.
    return 'unreadable'
  }
}

let hasOwnProc: boolean | undefined

/** True when `/proc` shows the namespace that our process numbers are of. */
function ownProc(): boolean {
  if (hasOwnProc === undefined) {
    try {
      hasOwnProc = readlinkSync('/proc/self') === String(process.pid)
    } catch {
      hasOwnProc = false
    }
  }
  return hasOwnProc
}

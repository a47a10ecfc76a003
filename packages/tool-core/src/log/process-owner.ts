import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'

/**
 * Names this process for `ownerId`: `host:pid:startTime`. The start time tells a process from a later one that was
 * given the same number. The host part is the host name, what tells the machine from another one with the same name,
 * and on Linux the pid namespace: virtual machines and containers may share a name and a log while their process
 * numbers mean different processes.
 */
export function currentOwnerId(): string {
  own ??= `${pidSpace()}:${process.pid}:${startTimeOf(process.pid) ?? Math.round(performance.timeOrigin)}`
  return own
}

/**
 * What this host knows of the process with an owner id: it is this one (`'here'`), it lives, it is gone, or this host
 * cannot know. Linux tells a process from a later one with the same number by its start time. Elsewhere a process that
 * exists may be another one, so only its absence is known.
 */
export function ownerState(ownerId: string): 'here' | 'alive' | 'gone' | 'unknown' {
  if (ownerId === own) return 'here'
  const match = /^(.*):(\d+):(\d+)$/s.exec(ownerId)
  if (match === null || match[1] !== pidSpace()) return 'unknown'
  const pid = Number(match[2])
  if (process.platform === 'linux' && startTimeOf(process.pid) !== null) {
    return startTimeOf(pid) === match[3] ? 'alive' : 'gone'
  }
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'unknown'
  }
}

/** True when the process named by an owner id is known to have ended. */
export function isOwnerGone(ownerId: string): boolean {
  return ownerState(ownerId) === 'gone'
}

const heldKey: unique symbol = Symbol.for('smithers.log.held') as never
const shared = globalThis as { [heldKey]?: Set<string> }

/**
 * The tokens of the calls, runs and tasks that this process holds. What is not among them and late was lost, for example
 * because its end could not be recorded. One set for every copy of this package.
 */
export const heldHere: Set<string> = (shared[heldKey] ??= new Set())

let own: string | undefined
let space: string | undefined

function pidSpace(): string {
  if (space === undefined) {
    const machine = `${hostname()}/${machineMark()}`
    space = process.platform === 'linux' ? `${machine}/${pidNamespace()}` : machine
  }
  return space
}

/**
 * Linux names each boot of a machine at random. Elsewhere the network addresses of the machine stand in; when they
 * change, later processes do not recognise earlier ones, and their leases decide.
 */
function machineMark(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    const addresses = Object.values(networkInterfaces())
      .flatMap((interfaces) => interfaces ?? [])
      .filter(({ internal }) => !internal)
      .map(({ mac }) => mac)
    return createHash('sha256')
      .update([...new Set(addresses)].toSorted().join())
      .digest('hex')
      .slice(0, 16)
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/** Clock ticks between boot and the start of a process; null when there is no such process or it is a zombie. */
function startTimeOf(pid: number): string | null {
  if (process.platform !== 'linux') return null
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The second field is the program's name in parentheses and may hold anything, so counting begins after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  return state === 'Z' || state === 'X' ? null : (fields[19] ?? null)
}

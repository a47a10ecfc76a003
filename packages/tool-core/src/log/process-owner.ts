import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Names this process for `ownerId`: `host:pid:startTime`. The start time tells a process from a later one that was
 * given the same number; the host part includes the pid namespace, because two containers may share a host name and
 * a log file while their process numbers mean different processes.
 */
export function currentOwnerId(): string {
  own ??= `${pidSpace()}:${process.pid}:${startTimeOf(process.pid) ?? Math.round(performance.timeOrigin)}`
  return own
}

/**
 * True when the process named by an owner id is known to have ended: same host, and no such process any more. False
 * when it lives and when this host cannot know, so that only the lease decides there.
 */
export function isOwnerGone(ownerId: string): boolean {
  if (ownerId === own) return false
  const match = /^(.*):(\d+):(\d+)$/s.exec(ownerId)
  if (match === null || match[1] !== pidSpace()) return false
  const pid = Number(match[2])
  if (process.platform === 'linux' && startTimeOf(process.pid) !== null) {
    return startTimeOf(pid) !== match[3]
  }
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

let own: string | undefined
let space: string | undefined

function pidSpace(): string {
  space ??= process.platform === 'linux' ? `${hostname()}/${pidNamespace()}` : hostname()
  return space
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

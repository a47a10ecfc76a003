import { readFileSync, readlinkSync } from 'node:fs'

/** Whether a process number of our own namespace is unused. */
export function isGone(pid: number): boolean {
  try {
    // Signal 0 only checks. `/proc` may hide the processes of other users.
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

let space: string | null | undefined

/** Identifies the scope of process numbers: the boot of the machine and the namespace. */
export function processSpace(): string | undefined {
  space ??= readSpace() ?? null
  return space ?? undefined
}

function readSpace(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    // A /proc mounted for another namespace shows other numbers.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').replaceAll('-', '')
    const namespace = /^pid:\[(\d+)\]$/u.exec(readlinkSync('/proc/self/ns/pid'))?.[1]
    const known = /^[0-9a-f]{32}\s*$/u.test(boot) && namespace !== undefined
    return known ? `${boot.slice(0, 16)}-${namespace}` : undefined
  } catch {
    return undefined
  }
}

/**
 * When a process started, in clock ticks since the boot of the machine; undefined when it is gone. Tells a process from
 * a later one with the same number.
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field, the name of the program, may contain blanks and parentheses; the start time is the 22nd.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

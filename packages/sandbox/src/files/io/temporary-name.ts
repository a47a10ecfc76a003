import { readFileSync, readlinkSync } from 'node:fs'

// Every name is random: a name that was seen tells nothing of the next, so nobody can take it first. The bytes come in
// blocks, since asking for a few at a time costs more than making the file's name is worth.
const nameBytes = 12
const block = Buffer.alloc(nameBytes * 64)
let used = block.length

/** A name for a file on its way, which says where it is known who writes it: `.smithers-RANDOM-BOOT-NAMESPACE-PID.tmp`. */
export function temporaryName(): string {
  if (used === block.length) {
    crypto.getRandomValues(block)
    used = 0
  }
  used += nameBytes
  const random = block.toString('base64url', used - nameBytes, used)
  const writers = numberSpace()
  const writer = writers === undefined ? '' : `-${writers}-${process.pid}`
  return `.smithers-${random}${writer}.tmp`
}

const pattern = /^\.smithers-[\w-]{16}-([0-9a-f]{16}-\d+)-(\d+)\.tmp$/u

/**
 * Whether a name is that of a file whose writer is gone for certain: a process number of this boot of this machine and
 * of our own process namespace that nobody has any more. Elsewhere a number means another process, so files that came
 * over a shared volume, or from before a restart, are left alone.
 */
export function isLeftover(name: string): boolean {
  const [, writers, pid] = pattern.exec(name) ?? []
  return writers !== undefined && writers === numberSpace() && isGone(Number(pid))
}

/** Whether writers can be told apart here at all. */
export function knowsWriters(): boolean {
  return numberSpace() !== undefined
}

function isGone(pid: number): boolean {
  try {
    // Signal 0 only asks. `/proc` would not do: it may hide the processes of others.
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

let space: string | null | undefined

/** What process numbers belong to: the boot of the machine, and the namespace. */
function numberSpace(): string | undefined {
  space ??= readNumberSpace() ?? null
  return space ?? undefined
}

function readNumberSpace(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    // A /proc that was mounted for another namespace speaks of other numbers.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').replaceAll('-', '')
    const namespace = /^pid:\[(\d+)\]$/u.exec(readlinkSync('/proc/self/ns/pid'))?.[1]
    const known = /^[0-9a-f]{32}\s*$/u.test(boot) && namespace !== undefined
    return known ? `${boot.slice(0, 16)}-${namespace}` : undefined
  } catch {
    return undefined
  }
}

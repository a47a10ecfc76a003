import { readFileSync, readlinkSync } from 'node:fs'

// Names are random, so that no program can predict and create the next one. Random bytes are fetched in blocks because
// small requests are slow.
const nameBytes = 12
const block = Buffer.alloc(nameBytes * 64)
let used = block.length

/** A name for a temporary file. Where the writer can be identified: `.smithers-RANDOM-BOOT-NAMESPACE-PID.tmp`. */
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
 * Whether a name belongs to a file whose writer is certainly gone: its process number, from this boot and our process
 * namespace, is unused. Elsewhere a number could mean another process, so files from a shared volume or from before a
 * restart are left alone.
 */
export function isLeftover(name: string): boolean {
  const [, writers, pid] = pattern.exec(name) ?? []
  return writers !== undefined && writers === numberSpace() && isGone(Number(pid))
}

/** Whether writers can be identified on this platform. */
export function knowsWriters(): boolean {
  return numberSpace() !== undefined
}

function isGone(pid: number): boolean {
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
function numberSpace(): string | undefined {
  space ??= readNumberSpace() ?? null
  return space ?? undefined
}

function readNumberSpace(): string | undefined {
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

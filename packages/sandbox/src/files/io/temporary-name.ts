import { isGone, processSpace } from './process-identity.ts'

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
  const writers = processSpace()
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
  return writers !== undefined && writers === processSpace() && isGone(Number(pid))
}

/** Whether writers can be identified on this platform. */
export function knowsWriters(): boolean {
  return processSpace() !== undefined
}

import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Returns a descriptor, positioned at the start, of a file that has contents but no name: what a child reads as its
 * arguments or its filter. No other process can open or change it, and nothing is left when the descriptor closes.
 */
export function anonymousFile(contents: Uint8Array): number {
  const descriptor = openUnnamed()
  try {
    // Written by position: the offset, which the child shares, stays at the start.
    for (let written = 0; written < contents.length;) {
      written += writeSync(descriptor, contents, written, contents.length - written, written)
    }
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

const kept = new WeakMap<Uint8Array, number>()

/**
 * Like {@link anonymousFile}, for contents that many children read: written once, and opened again for each, since a
 * position is shared by all descriptors of the same opening.
 */
export function sharedAnonymousFile(contents: Uint8Array): number {
  let descriptor = kept.get(contents)
  if (descriptor === undefined) {
    descriptor = anonymousFile(contents)
    kept.set(contents, descriptor)
  }
  try {
    return openSync(`/proc/self/fd/${descriptor}`, 'r')
  } catch {
    return anonymousFile(contents)
  }
}

// O_TMPFILE is __O_TMPFILE | O_DIRECTORY; only the second differs between architectures. Node has no name for the first.
const temporaryFile = 0o20_000_000 | (constants.O_DIRECTORY ?? 0)

function openUnnamed(): number {
  for (const directory of ['/dev/shm', tmpdir()]) {
    try {
      return openSync(directory, temporaryFile | constants.O_RDWR, 0o600)
    } catch {
      // A file system without unnamed files, or no such directory: the next one, then a named file.
    }
  }
  const directory = mkdtempSync(join(tmpdir(), 'smithers-'))
  const path = join(directory, 'unnamed')
  try {
    const descriptor = openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
      0o600,
    )
    unlinkSync(path)
    return descriptor
  } finally {
    rmdirSync(directory)
  }
}

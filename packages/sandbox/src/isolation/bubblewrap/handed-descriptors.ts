import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmdirSync,
  unlinkSync,
  writeSync,
  readSync,
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

/** Where a program that starts a command says how far it came. The command itself never has it open. */
export interface StartStatus {
  /** For the child, to be closed with its other descriptors. */
  readonly descriptor: number
  /** What was written so far, without the NULs after it. */
  readonly read: () => string
  /** Gives the file back for the next command. Call it once. */
  readonly close: () => void
}

/** More than any of them writes. Written beforehand, so that no full disk keeps it from writing. */
const room = Buffer.alloc(1024)

/** Files that no command uses now: reading one is cheaper than making one, and a pipe dearer than both. */
const idle: number[] = []
const maxIdle = 16

/** Returns a file for the status of one command. */
export function openStartStatus(): StartStatus {
  const file = idle.pop() ?? anonymousFile(room)
  try {
    writeSync(file, room, 0, room.length, 0)
    // Opened again: the position in it is the child's own.
    const descriptor = openSync(`/proc/self/fd/${file}`, 'r+')
    return { descriptor, read: () => readStatus(file), close: () => giveBack(file) }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

function readStatus(file: number): string {
  const bytes = Buffer.alloc(room.length)
  const length = readSync(file, bytes, 0, bytes.length, 0)
  return bytes.toString('latin1', 0, length).replace(/\0+$/, '')
}

function giveBack(file: number): void {
  if (idle.length < maxIdle) idle.push(file)
  else closeSync(file)
}

import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  statfsSync,
} from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { systemCode } from '../file-error.ts'
import type { DirectoryTree, DirectoryHandle, EntryHandle } from './directory-handle.ts'

// open(2) on Linux. Node has no name for it; the number is the same on every architecture that Node supports.
const O_PATH = 0o10000000
const procMagic = 0x9fa0
const orUndefined = { throwIfNoEntry: false } as const
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/**
 * Whether paths can be walked by descriptor: on Linux with a real procfs. A directory made to look like `/proc` does not
 * count.
 */
export function canWalkDescriptors(procDirectory = '/proc/self/fd'): boolean {
  if (process.platform !== 'linux') return false
  try {
    return statfsSync(procDirectory).type === procMagic
  } catch {
    return false
  }
}

/**
 * The descriptor-walking guard of Linux. Every directory is an `O_PATH` descriptor; every system call names one entry of
 * an open directory as `/proc/PID/fd/N/name` and does not follow a link at the end.
 * Guarantees: a system call acts only on an entry of a directory that was reached from the root by single steps, none of
 * which followed a link or `..`, however fast other processes rename and replace.
 *
 * Does not protect against: a process with write access outside the root that moves an open directory out of the root;
 * a file system mounted below the root by the superuser.
 */
export function openBeneathTree(canonicalRoot: string): DirectoryTree {
  // Resolving the link /proc/self once saves the kernel a step in every later call.
  const descriptors = `/proc/${readlinkSync('/proc/self')}/fd/`
  const hold = (fd: number) => new BeneathDirectory(descriptors, fd)
  const root = hold(openSync(canonicalRoot, O_PATH | O_DIRECTORY | O_NOFOLLOW))
  return {
    guard: 'beneath',
    root,
    openDirectory: (parent, name) =>
      hold(openSync(parent.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)),
    openDirectoryBytes: (parent, name) =>
      hold(openSync(parent.atBytes(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)),
    openEntry: (parent, name, isLikelyMissing = false) => {
      // The error of opening a missing name costs as much as the rest of a small write; an answer costs a microsecond.
      if (isLikelyMissing && lstatSync(parent.at(name), orUndefined) === undefined) return undefined
      let fd: number
      try {
        fd = openSync(parent.at(name), O_PATH | O_NOFOLLOW)
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return undefined
        throw error
      }
      return new BeneathEntry(descriptors, fd)
    },
  }
}

class BeneathDirectory implements DirectoryHandle {
  readonly self: string
  readonly fd: number
  readonly #prefix: string
  // Of an open directory it never changes.
  #identity: string | undefined

  constructor(descriptors: string, fd: number) {
    this.fd = fd
    this.#prefix = `${descriptors}${fd}/`
    // The final dot makes the kernel follow the descriptor's link also where a call would not follow a last link.
    this.self = `${this.#prefix}.`
  }

  at(name: string): string {
    return this.#prefix + name
  }

  atBytes(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(this.#prefix), name])
  }

  identity(): string {
    if (this.#identity === undefined) {
      const { dev, ino } = fstatSync(this.fd, { bigint: true })
      this.#identity = `${dev}:${ino}`
    }
    return this.#identity
  }

  recheck(): void {
    // A descriptor always refers to the same directory.
  }

  close(): void {
    closeSync(this.fd)
  }
}

class BeneathEntry implements EntryHandle {
  readonly stat: BigIntStats
  readonly self: string
  readonly #fd: number

  constructor(descriptors: string, fd: number) {
    this.#fd = fd
    this.self = descriptors + fd
    this.stat = fstatSync(fd, { bigint: true })
  }

  open(flags: number): number {
    // O_NONBLOCK: opening a device must never wait.
    return openSync(this.self, flags | O_NONBLOCK | O_NOCTTY)
  }

  close(): void {
    closeSync(this.#fd)
  }

  closeLater(): void {
    close(this.#fd, () => {
      // The handle is gone, whatever the file system says about it.
    })
  }
}

import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { sep } from 'node:path'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryTree, DirectoryHandle, EntryHandle } from './directory-handle.ts'

/**
 * The flag of open(2) that makes the platform refuse links: in any component on macOS (`O_NOFOLLOW_ANY`), in the last
 * component elsewhere. Windows has none.
 */
export function noFollowFlag(platform: NodeJS.Platform): number {
  if (platform === 'darwin') return 0x20000000
  return platform === 'win32' ? 0 : constants.O_NOFOLLOW
}

/**
 * The guard for macOS, Windows, and Linux without `/proc`, where directories cannot be used by descriptor. It expands
 * links itself into a link-free absolute path, which it checks before each operation and, for changes, also after.
 * Guarantees: without a concurrent attacker, the same as the Linux guard. On macOS the kernel refuses to open a file for
 * reading when any component has become a link.
 *
 * Does not protect against: another process that replaces a directory by a link between the check and a mutation. Not
 * tested on macOS and Windows; on Linux the same code runs in the tests.
 */
export function openCheckedTree(canonicalRoot: string): DirectoryTree {
  const root = new CheckedDirectory(canonicalRoot, canonicalRoot)
  return {
    guard: 'checked',
    root,
    openDirectory: (parent, name) => new CheckedDirectory(parent.at(name), canonicalRoot),
    openDirectoryBytes: (parent, name) =>
      new CheckedDirectory(parent.at(name.toString()), canonicalRoot),
    openEntry: (parent, name) => {
      const path = parent.at(name)
      const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? undefined : new CheckedEntry(path, stat)
    },
  }
}

class CheckedDirectory implements DirectoryHandle {
  readonly fd = undefined
  readonly self: string
  readonly #canonicalRoot: string
  readonly #identity: string

  constructor(path: string, canonicalRoot: string) {
    this.self = path
    this.#canonicalRoot = canonicalRoot
    const stat = lstatSync(path, { bigint: true })
    if (!stat.isDirectory())
      throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR', syscall: 'open' })
    this.#identity = identityOf(stat)
  }

  at(name: string): string {
    return this.self.endsWith(sep) ? this.self + name : this.self + sep + name
  }

  atBytes(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(this.at('')), name])
  }

  identity(): string {
    return this.#identity
  }

  recheck(): void {
    const real = realpathSync.native(this.self)
    const inside =
      real === this.#canonicalRoot || real.startsWith(withSeparator(this.#canonicalRoot))
    if (!inside || identityOf(lstatSync(this.self, { bigint: true })) !== this.#identity) {
      throw changedUnderfoot()
    }
  }

  close(): void {
    // No handle is open.
  }
}

class CheckedEntry implements EntryHandle {
  readonly stat: BigIntStats
  readonly self: string

  constructor(path: string, stat: BigIntStats) {
    this.self = path
    this.stat = stat
  }

  open(flags: number): number {
    const fd = openSync(
      this.self,
      flags | noFollowFlag(process.platform) | (constants.O_NONBLOCK ?? 0),
    )
    if (identityOf(fstatSync(fd, { bigint: true })) === identityOf(this.stat)) return fd
    closeSync(fd)
    throw changedUnderfoot()
  }

  close(): void {
    // No handle is open.
  }

  closeLater(): void {
    // No handle is open.
  }
}

/**
 * Retries work when the platform reports that a component of a checked path has become a link; the next walk expands
 * it. Only for work that changes nothing before this failure.
 */
export function retryExchanged<T>(work: () => T): T {
  for (let tries = 1; ; tries += 1) {
    try {
      return work()
    } catch (error) {
      if (systemCode(error) !== 'ELOOP' || tries === fileLimits.maxWalks) throw error
    }
  }
}

function identityOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep
}

function changedUnderfoot(): SandboxError {
  return new SandboxError(
    'TOOL_PATH_ESCAPE',
    'A directory of this path was replaced during the operation, which has stopped. Try again.',
  )
}

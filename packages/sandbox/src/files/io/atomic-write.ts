import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryHandle } from '../guard/directory-handle.ts'
import { isSmall } from './read-file.ts'
import { temporaryName } from './temporary-name.ts'
import { flushInPool, writeInPool } from './pool-calls.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

/**
 * When a write counts as done. `'fsync'`: when its bytes are on the disk, so that after a power failure the name stands
 * for the old file or the whole new one. `'relaxed'`: when the operating system has it; that survives the death of this
 * process, but a power failure can leave an empty file on some file systems.
 */
export type WriteDurability = 'fsync' | 'relaxed'

/**
 * A new version of a file on its way: a temporary file in the directory of the target, which takes its name in one step.
 * Whatever moment the process dies at, the name stands for the old file or the new one. A process that is killed leaves
 * the temporary file behind (`.smithers-….tmp`), for a later write in that directory to remove.
 */
export interface PendingFile {
  /** Appends, on the calling thread. */
  writeNow(bytes: Uint8Array): void
  /** Appends, in the thread pool. */
  write(bytes: Uint8Array): Promise<void>
  /** Waits until the bytes are on the disk, so that the name never stands for less after a power failure. */
  flush(): Promise<void>
  /** Gives the file its name; the pending file is used up. */
  commit(name: string): void
  /** Gives the file a name that must not exist yet; EEXIST when it does. */
  commitNew(name: string): void
  /** Removes the temporary file unless it was committed. Call it always. */
  dispose(): void
}

/** Begins a new version of what `replaced` describes, with its mode and owner, or of a new file. */
export function beginFile(
  directory: DirectoryHandle,
  replaced: BigIntStats | undefined,
): PendingFile {
  directory.recheck()
  const { fd, name: temporary } = openTemporary(directory, replaced === undefined ? 0o666 : 0o600)
  let isOpen = true
  let exists = true

  function close(): void {
    if (isOpen) {
      isOpen = false
      closeSync(fd)
    }
  }

  function dispose(): void {
    close()
    if (!exists) return
    exists = false
    try {
      unlinkSync(directory.at(temporary))
    } catch {
      // Somebody has removed or replaced it; the failure that led here is the one to report.
    }
  }

  try {
    if (replaced !== undefined) keepOwnerAndMode(fd, replaced)
  } catch (error) {
    dispose()
    throw error
  }

  return {
    writeNow(bytes) {
      for (let offset = 0; offset < bytes.length;) {
        offset += writeSync(fd, bytes, offset, bytes.length - offset, null)
      }
    },
    async write(bytes) {
      for (let offset = 0; offset < bytes.length;) {
        const length = Math.min(fileLimits.chunkBytes, bytes.length - offset)
        offset += await writeInPool(fd, bytes, { offset, length })
      }
    },
    flush: () => flushInPool(fd),
    commit(name) {
      close()
      directory.recheck()
      renameSync(directory.at(temporary), directory.at(name))
      exists = false
      directory.recheck()
    },
    commitNew(name) {
      close()
      directory.recheck()
      // Unlike rename, a link never replaces what stands there.
      linkSync(directory.at(temporary), directory.at(name))
      directory.recheck()
      dispose()
    },
    dispose,
  }
}

/** Puts the whole contents into a pending file: large ones, and waiting for the disk, through the thread pool. */
export async function fill(
  file: PendingFile,
  bytes: Uint8Array,
  durability: WriteDurability,
): Promise<void> {
  if (isSmall(bytes.length)) file.writeNow(bytes)
  else await file.write(bytes)
  if (durability === 'fsync') await file.flush()
}

function openTemporary(directory: DirectoryHandle, mode: number): { fd: number; name: string } {
  for (let tries = 1; ; tries += 1) {
    const name = temporaryName()
    try {
      return {
        name,
        fd: openSync(directory.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode),
      }
    } catch (error) {
      if (systemCode(error) !== 'EEXIST' || tries === fileLimits.maxTemporaryNames) throw error
    }
  }
}

function keepOwnerAndMode(fd: number, replaced: BigIntStats): void {
  const created = fstatSync(fd, { bigint: true })
  if (created.uid !== replaced.uid || created.gid !== replaced.gid) {
    try {
      fchownSync(fd, Number(replaced.uid), Number(replaced.gid))
    } catch (error) {
      // Only the superuser can give files away. The file then belongs to who wrote it, as with any editor.
      if (systemCode(error) !== 'EPERM') throw error
    }
  }
  // Set-uid and set-gid go, as the kernel drops them on a write: they vouched for the old contents.
  fchmodSync(fd, Number(replaced.mode & 0o777n))
}

/**
 * Throws when the file could not be written in place. Replacing needs only the directory's permission, so a file that
 * somebody made read-only would otherwise be changed.
 */
export function checkWritable(path: string, stat: BigIntStats): void {
  const user = process.geteuid?.()
  if (user === 0) return
  if (user !== undefined && stat.uid === BigInt(user) && (stat.mode & 0o200n) !== 0n) return
  accessSync(path, constants.W_OK)
}

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
 * When a write is complete. `'fsync'`: when its bytes are on the disk, so that even after a power failure the name refers
 * to the old file or the whole new one. `'relaxed'`: when the operating system has them. That survives the death of this
 * process, but after a power failure some file systems can show an empty file.
 */
export type WriteDurability = 'fsync' | 'relaxed'

/**
 * A new version of a file: a temporary file in the target's directory that takes the target's name in one step. Whenever
 * the process dies, the name refers to the old file or the new one. A killed process leaves its temporary file
 * (`.smithers-….tmp`) behind; a later write in that directory removes it.
 */
export interface PendingFile {
  /** Appends, on the calling thread. */
  writeNow(bytes: Uint8Array): void
  /** Appends, in the thread pool. */
  write(bytes: Uint8Array): Promise<void>
  /** Waits until the bytes are on the disk. */
  flush(): Promise<void>
  /** Gives the file its name. Call it once. */
  commit(name: string): void
  /** Gives the file a new name; throws EEXIST when the name exists. */
  commitNew(name: string): void
  /** Removes the temporary file unless it was committed. Always call it. */
  dispose(): void
}

/** Begins a new version of the file that `replaced` describes, with its mode and owner, or a new file. */
export function beginFile(
  directory: DirectoryHandle,
  replaced: BigIntStats | undefined,
): PendingFile {
  directory.recheck()
  const temporary = openTemporary(directory, replaced === undefined ? 0o666 : 0o600)
  const file = pendingFile(directory, temporary)
  try {
    if (replaced !== undefined) keepOwnerAndMode(temporary.fd, replaced)
  } catch (error) {
    file.dispose()
    throw error
  }
  return file
}

function pendingFile(
  directory: DirectoryHandle,
  { fd, name: temporary }: ReturnType<typeof openTemporary>,
): PendingFile {
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
      // Another process removed or replaced it. Report the failure that led here.
    }
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
      // Unlike rename, link never replaces an existing file.
      linkSync(directory.at(temporary), directory.at(name))
      directory.recheck()
      dispose()
    },
    dispose,
  }
}

/** Writes the whole contents into a pending file. Large writes and waiting for the disk use the thread pool. */
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
      // Only the superuser can change owners. As with any editor, the file then belongs to the writer.
      if (systemCode(error) !== 'EPERM') throw error
    }
  }
  // Drop set-uid and set-gid, as the kernel does on a write: they applied to the old contents.
  fchmodSync(fd, Number(replaced.mode & 0o777n))
}

/**
 * Throws when the file could not be written in place. Replacing needs only the directory's permission, so without this
 * check a read-only file would be changed.
 */
export function checkWritable(path: string, stat: BigIntStats): void {
  const user = process.geteuid?.()
  if (user === 0) return
  if (user !== undefined && stat.uid === BigInt(user) && (stat.mode & 0o200n) !== 0n) return
  accessSync(path, constants.W_OK)
}

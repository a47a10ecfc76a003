import { closeSync, constants, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { SandboxError } from '../sandbox-error.ts'
import { fileNotFound, notAFile, quotePath } from './file-error.ts'
import { fileLimits } from './file-limits.ts'
import { kindOf } from './held-directory.ts'
import type { HeldEntry } from './held-directory.ts'
import type { Place } from './walk-path.ts'

const readAsync = promisify(read)

// Small reads share one buffer, from which the result is copied: allocating the limit for each would cost more.
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** The regular file at a place, or an error that says what stands there instead. */
export function regularFile(place: Place, path: string): HeldEntry {
  const { entry } = place
  if (entry === undefined) throw fileNotFound(path)
  const kind = kindOf(entry.stat)
  if (kind !== 'file') throw notAFile(path, kind)
  return entry
}

export function fileTooLarge(path: string, size: number | bigint, maxBytes: number): SandboxError {
  return new SandboxError(
    'TOOL_FILE_TOO_LARGE',
    `File too large: ${quotePath(path)} has ${size} bytes, the limit is ${maxBytes}. Read a part of it, or search it.`,
    { details: { path, bytes: Number(size), maxBytes }, effect: 'none' },
  )
}

/** Whether a file of this size is read on the calling thread. */
export function isSmall(size: number | bigint): boolean {
  return size <= fileLimits.maxSynchronousBytes
}

/**
 * The contents of a small file. Reads to the end, not to the size that was told: files of `/proc` say 0, and a file may
 * grow meanwhile.
 */
export function readSmallFile(entry: HeldEntry, path: string, maxBytes: number): Buffer {
  if (entry.stat.size > BigInt(maxBytes)) throw fileTooLarge(path, entry.stat.size, maxBytes)
  const fd = entry.open(constants.O_RDONLY)
  try {
    const size = Number(entry.stat.size)
    let buffer: Buffer = size < scratch.length ? scratch : Buffer.allocUnsafeSlow(size + 1)
    let length = 0
    for (;;) {
      if (length === buffer.length) buffer = grown(buffer)
      const count = readSync(fd, buffer, length, buffer.length - length, null)
      length += count
      if (length > maxBytes) throw fileTooLarge(path, length, maxBytes)
      // A short read of a regular file is its end; the size told agrees, so the last read can be saved.
      if (count === 0 || (length === size && length < buffer.length && size > 0)) break
    }
    return buffer === scratch
      ? Buffer.from(scratch.subarray(0, length))
      : buffer.subarray(0, length)
  } finally {
    closeSync(fd)
  }
}

/** The contents of a large file, read in the thread pool. */
export async function readLargeFile(
  entry: HeldEntry,
  path: string,
  maxBytes: number,
): Promise<Buffer> {
  if (entry.stat.size > BigInt(maxBytes)) throw fileTooLarge(path, entry.stat.size, maxBytes)
  const fd = entry.open(constants.O_RDONLY)
  try {
    let buffer: Buffer = Buffer.allocUnsafeSlow(Number(entry.stat.size) + 1)
    let length = 0
    for (;;) {
      if (length === buffer.length) buffer = grown(buffer)
      const wanted = Math.min(fileLimits.chunkBytes, buffer.length - length)
      const { bytesRead } = await readAsync(fd, buffer, length, wanted, null)
      length += bytesRead
      if (length > maxBytes) throw fileTooLarge(path, length, maxBytes)
      if (bytesRead === 0) return buffer.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

/** Whether a file that was read still holds exactly these bytes. */
export function holdsBytes(entry: HeldEntry, bytes: Buffer): boolean {
  const fd = entry.open(constants.O_RDONLY)
  try {
    for (let offset = 0; ;) {
      const count = readSync(fd, scratch, 0, scratch.length, null)
      const isSame =
        scratch.compare(bytes, offset, Math.min(offset + count, bytes.length), 0, count) === 0
      if (!isSame) return false
      offset += count
      if (count === 0) return offset === bytes.length
    }
  } finally {
    closeSync(fd)
  }
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2)
  buffer.copy(larger)
  return larger
}

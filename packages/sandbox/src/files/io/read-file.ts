import { closeSync, constants, readSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { fileNotFound, notAFile, quotePath } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import { kindOf } from '../guard/directory-handle.ts'
import type { EntryHandle } from '../guard/directory-handle.ts'
import type { ResolvedPath } from '../guard/walk-path.ts'
import { readInPool } from './pool-calls.ts'

/**
 * Small reads share one buffer: allocating one for each would cost more than the read, and a thousand at once would make
 * the garbage collector pause. It has one byte more than a small file, so that growth is noticed.
 */
const scratch = Buffer.allocUnsafeSlow(fileLimits.maxSynchronousBytes + 1)

/** Returns the regular file at a path, or throws an error naming the kind of the object found. */
export function regularFile(resolved: ResolvedPath, path: string): EntryHandle {
  const { entry } = resolved
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
 * Reads a small file and converts its bytes, which are valid only during the call. Reads to the end, not to the reported
 * size: files of `/proc` report 0, and a file may grow meanwhile. Returns undefined when the file proves to be large.
 */
export function readSmallFile<T>(
  entry: EntryHandle,
  path: string,
  maxBytes: number,
  convert: (bytes: Buffer) => T,
): { readonly value: T } | undefined {
  if (entry.stat.size > BigInt(maxBytes)) throw fileTooLarge(path, entry.stat.size, maxBytes)
  const fd = entry.open(constants.O_RDONLY)
  let length = 0
  try {
    const size = Number(entry.stat.size)
    while (length < scratch.length) {
      const count = readSync(fd, scratch, length, scratch.length - length, null)
      length += count
      // A short read that ends at the reported size has reached the end of the file.
      if (count === 0 || (length === size && size > 0)) break
    }
  } finally {
    closeSync(fd)
  }
  if (length === scratch.length) return undefined
  if (length > maxBytes) throw fileTooLarge(path, length, maxBytes)
  return { value: convert(scratch.subarray(0, length)) }
}

/** Copies bytes out of the shared buffer. */
export function copyBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes)
}

/** The contents of a large file, read in the thread pool. */
export async function readLargeFile(
  entry: EntryHandle,
  path: string,
  maxBytes: number,
): Promise<Buffer> {
  if (entry.stat.size > BigInt(maxBytes)) throw fileTooLarge(path, entry.stat.size, maxBytes)
  const fd = entry.open(constants.O_RDONLY)
  try {
    let buffer: Buffer = Buffer.allocUnsafeSlow(Math.max(Number(entry.stat.size) + 1, 4096))
    let length = 0
    for (;;) {
      if (length === buffer.length) buffer = grown(buffer)
      const wanted = Math.min(fileLimits.chunkBytes, buffer.length - length)
      const bytesRead = await readInPool(fd, buffer, {
        offset: length,
        length: wanted,
        position: null,
      })
      length += bytesRead
      if (length > maxBytes) throw fileTooLarge(path, length, maxBytes)
      if (bytesRead === 0) return buffer.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

/** Whether a file still contains exactly these bytes. */
export function holdsBytes(entry: EntryHandle, bytes: Buffer): boolean {
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

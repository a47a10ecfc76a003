import { fsync, read, write } from 'node:fs'

// Written by hand: importing `node:util` for `promisify` would add a fifth to this package's import time.

/** Reads through the thread pool. Position `null` continues after the last read. */
export function readInPool(
  fd: number,
  buffer: Uint8Array,
  { offset, length, position }: { offset: number; length: number; position: number | null },
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, offset, length, position, settle(resolve, reject))
  })
}

/** Appends through the thread pool. */
export function writeInPool(
  fd: number,
  bytes: Uint8Array,
  { offset, length }: { offset: number; length: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, offset, length, null, settle(resolve, reject))
  })
}

/** Waits in the thread pool until written data is on the disk. */
export function flushInPool(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, settle(resolve, reject))
  })
}

function settle<Value>(
  resolve: (value: Value) => void,
  reject: (error: Error) => void,
): (error: Error | null, value: Value) => void {
  return (error, value) => (error === null ? resolve(value) : reject(error))
}

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { anonymousFile } from './anonymous-file.ts'

/** Where `bwrap --json-status-fd` says how far it came. The command itself never has it open. */
export interface StartStatus {
  /** For the child, to be closed with its other descriptors. */
  readonly descriptor: number
  /** Whether the command was started. Ask when `bwrap` has ended. */
  readonly hasStarted: () => boolean
  /** Gives the file back for the next command. Call it once. */
  readonly close: () => void
}

/** More than `bwrap` writes. Written beforehand, so that no full disk keeps it from writing. */
const room = Buffer.alloc(1024)

/** Files that no command uses now: reading one is cheaper than making one, and a pipe dearer than both. */
const idle: number[] = []
const maxIdle = 16

/** Returns a file for the status of one command; `undefined` where none can be had. */
export function openStartStatus(): StartStatus | undefined {
  let file: number | undefined
  try {
    file = idle.pop() ?? anonymousFile(room)
    writeSync(file, room, 0, room.length, 0)
    const status = file
    // Opened again: the position in it is the child's own.
    const descriptor = openSync(`/proc/self/fd/${status}`, 'r+')
    return { descriptor, hasStarted: () => readStatus(status), close: () => giveBack(status) }
  } catch {
    if (file !== undefined) closeSync(file)
    return undefined
  }
}

/** The exit code comes last, and only when the program itself was executed. */
function readStatus(file: number): boolean {
  const bytes = Buffer.alloc(room.length)
  const length = readSync(file, bytes, 0, bytes.length, 0)
  return bytes.toString('latin1', 0, length).includes('"exit-code"')
}

function giveBack(file: number): void {
  if (idle.length < maxIdle) idle.push(file)
  else closeSync(file)
}

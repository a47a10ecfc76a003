import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isExecutable } from '../is-executable.ts'

/** One end of a pipe as a stream, and the other as a descriptor for a child, to be closed when the child has it. */
export interface CommandPipe {
  readonly stream: Socket
  readonly childEnd: number
}

/**
 * Real pipes for commands. What Node makes for `stdio: 'pipe'` are sockets: `/dev/stdout` cannot be opened, and one
 * socket cannot serve two streams, so what is printed to both arrives in an order of its own. Node has no call that makes
 * a pipe, so named ones are made, many by one program, opened, and their names removed. Linux with `/proc` only; elsewhere
 * there are none, and sockets have to do.
 */
const unused: number[] = []

/** As many as one command may need. */
const needed = 2
const batch = 32

let making: Promise<void> | undefined
let isUnavailable = process.platform !== 'linux'

/** Whether a command can start now: enough pipes are ready, or pipes are unavailable here. */
export function arePipesReady(): boolean {
  return isUnavailable || unused.length >= needed
}

/** Makes more pipes. Another command may take them before the caller continues. */
export function makePipes(): Promise<void> {
  making ??= make()
    .catch(() => {
      isUnavailable = true
    })
    .finally(() => {
      making = undefined
    })
  return making
}

/**
 * A pipe from a child to this process; undefined where pipes are unavailable. Input has no counterpart: opening a named
 * pipe again (`/dev/stdin`) after its writer has closed would wait for ever.
 *
 * Each serves one command only: a process with a pipe can open its other end too, and one that outlived its command, or
 * was handed the descriptor, would read what a later command prints, perhaps one of another sandbox.
 */
export function openCommandPipe(): CommandPipe | undefined {
  const pipe = unused.shift()
  if (pipe === undefined) return undefined
  const path = `/proc/self/fd/${pipe}`
  let reader: number | undefined
  try {
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const childEnd = openSync(path, constants.O_WRONLY)
    return { stream: new Socket({ fd: reader, readable: true, writable: false }), childEnd }
  } catch {
    // No descriptors left: sockets may still do.
    if (reader !== undefined) closeSync(reader)
    return undefined
  } finally {
    closeSync(pipe)
  }
}

// Not PATH: a project may put a program of that name there, and it would run unconfined.
const programs = ['/usr/bin/mkfifo', '/bin/mkfifo', '/run/current-system/sw/bin/mkfifo']

/** The names are removed once the pipes are open, so that no other process can open them and none is left behind. */
async function make(): Promise<void> {
  const program = programs.find(isExecutable)
  if (program === undefined) throw new Error('mkfifo is not installed')
  const directory = mkdtempSync(join(tmpdir(), `smithers-pipes-${process.pid}-`))
  try {
    const names = Array.from({ length: batch }, (_, index) => join(directory, String(index)))
    const child = spawn(program, ['-m', '600', '--', ...names], { env: {}, stdio: 'ignore' })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error('mkfifo failed')
    for (const name of names) unused.push(openSync(name, pathOnly | constants.O_NOFOLLOW))
    const last = unused.at(-1)
    if (last === undefined || !statSync(`/proc/self/fd/${last}`).isFIFO()) {
      throw new Error('descriptors cannot be opened again')
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// O_PATH, which node:fs does not name; the same number on every Linux architecture that Node supports.
const pathOnly = 0o10_000_000

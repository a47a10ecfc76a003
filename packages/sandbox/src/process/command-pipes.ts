import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isExecutable } from '../isolation/is-executable.ts'

/** One end of a pipe as a stream, and the other as a descriptor for a child, to be closed when the child has it. */
export interface CommandPipe {
  readonly stream: Socket
  readonly childEnd: number
}

/**
 * Real pipes for commands. What Node makes for `stdio: 'pipe'` are sockets: `/dev/stdout` cannot be opened, and one
 * socket cannot serve two streams, so what is printed to both arrives in an order of its own. Node has no call that makes
 * a pipe, so named ones are made, many by one program, opened, and their names removed; each serves one command after
 * another. Linux with `/proc` only; elsewhere there are none, and sockets have to do.
 */
const idle: number[] = []

/** As many as one command may need. */
const needed = 2
const atFirst = 16
const maxIdle = 64

let made = 0
let making: Promise<void> | undefined
let isUnavailable = process.platform !== 'linux'

/** Whether there is nothing to wait for before a command: its pipes are there, or none can be had. */
export function arePipesReady(): boolean {
  return isUnavailable || idle.length >= needed
}

/** Makes more pipes. Others may take them before whoever waits for this goes on. */
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
 * A pipe from a child to us; undefined where there is none. There is no counterpart for input: a named pipe whose writer
 * has closed makes whoever opens it anew (`/dev/stdin`) wait for ever.
 */
export function openCommandPipe(): CommandPipe | undefined {
  for (let tries = idle.length; tries > 0; tries -= 1) {
    const pipe = idle.shift()
    if (pipe === undefined) break
    const path = `/proc/self/fd/${pipe}`
    let reader: number | undefined
    try {
      reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      if (isClosedByAll(reader)) {
        const childEnd = openSync(path, constants.O_WRONLY)
        const stream = new Socket({ fd: reader, readable: true, writable: false })
        stream.once('close', () => giveBack(pipe))
        return { stream, childEnd }
      }
      closeSync(reader)
      // A process that outlived its command, or one that is just dying. Later perhaps.
      giveBack(pipe)
    } catch {
      // Made unusable by a command, or no descriptors left.
      if (reader !== undefined) closeSync(reader)
      closeSync(pipe)
    }
  }
  return undefined
}

const probe = Buffer.alloc(1)

/** Nobody holds the other end: a pipe that is empty and has a writer would say that there is nothing yet. */
function isClosedByAll(reader: number): boolean {
  try {
    return readSync(reader, probe, 0, 1, null) === 0
  } catch {
    return false
  }
}

function giveBack(pipe: number): void {
  if (idle.length < maxIdle) idle.push(pipe)
  else closeSync(pipe)
}

// Not PATH: a project may put a program of that name there, and it would run unconfined.
const programs = ['/usr/bin/mkfifo', '/bin/mkfifo', '/run/current-system/sw/bin/mkfifo']

/** Only found in the directory until they are open: what has no name, nobody else opens and nobody has to remove. */
async function make(): Promise<void> {
  const program = programs.find(isExecutable)
  if (program === undefined) throw new Error('there is no mkfifo')
  const directory = mkdtempSync(join(tmpdir(), `smithers-pipes-${process.pid}-`))
  try {
    const count = Math.max(atFirst, made)
    const names = Array.from({ length: count }, (_, index) => join(directory, String(index)))
    const child = spawn(program, ['-m', '600', '--', ...names], { env: {}, stdio: 'ignore' })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error('mkfifo failed')
    for (const name of names) idle.push(openSync(name, pathOnly | constants.O_NOFOLLOW))
    const last = idle.at(-1)
    if (last === undefined || !statSync(`/proc/self/fd/${last}`).isFIFO()) {
      throw new Error('descriptors cannot be opened again')
    }
    made += count
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// O_PATH, which node:fs does not name; the same number on every Linux architecture that Node supports.
const pathOnly = 0o10_000_000

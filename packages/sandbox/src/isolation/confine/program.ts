import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { confinePrograms } from './built-programs.ts'

/** The program as it was built, or why it cannot be used here. */
export type ProgramLookup =
  | { readonly contents: Buffer; readonly path: string }
  | { readonly why: string; readonly fix: string }

/** Finds the program of this architecture beside the package's code, and checks that it is the one that was built. */
export function findProgram(): ProgramLookup {
  const wanted = Object.hasOwn(confinePrograms, process.arch)
    ? confinePrograms[process.arch]
    : undefined
  if (process.platform !== 'linux' || wanted === undefined) {
    const why = `The package has no confinement program for ${process.platform} on ${process.arch}.`
    return { why, fix: 'Run on Linux, on x64 or arm64.' }
  }
  for (const place of places) {
    let contents: Buffer
    let path: string
    try {
      // A bundle may have no address, such as CommonJS made by esbuild.
      path = realpathSync(new URL(`${place}/linux-${process.arch}/confine`, import.meta.url))
      contents = readFileSync(path)
    } catch {
      continue
    }
    if (createHash('sha256').update(contents).digest('hex') === wanted) return { contents, path }
    const why = 'The confinement program of the package is not the one that was built for it.'
    return { why, fix: 'Install @smithers/sandbox anew.' }
  }
  const why = 'The confinement program is missing from the package.'
  const fix =
    'Install @smithers/sandbox anew, with its directory "bin". A bundle has to leave it external.'
  return { why, fix }
}

// From the sources, and from the built package.
const places = ['../../../bin', '../bin'] as const

/**
 * Starts the program from a copy without a name: what a command changes in a root, be it the package itself, never is
 * what this process starts next. `null` where no directory for such a copy allows execution.
 */
export function startProgram(contents: Buffer): ChildProcess | null {
  for (const directory of [tmpdir(), '/dev/shm', '/var/tmp']) {
    let copy: number
    try {
      copy = unnamedProgram(directory, contents)
    } catch {
      // Full, read-only or missing.
      continue
    }
    try {
      const child = spawn(`/proc/${process.pid}/fd/${copy}`, ['helper'], {
        argv0: 'confine',
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
        detached: true,
        env: {},
        cwd: '/',
      })
      // A directory that is mounted "noexec".
      child.on('error', () => {})
      if (child.pid !== undefined) return child
    } finally {
      closeSync(copy)
    }
  }
  return null
}

/** Open for reading only: the kernel does not start a file that is open for writing. */
function unnamedProgram(directory: string, contents: Buffer): number {
  const own = mkdtempSync(join(directory, 'smithers-program-'))
  const path = join(own, 'confine')
  try {
    const writer = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      for (let written = 0; written < contents.length;) {
        written += writeSync(writer, contents, written, contents.length - written, written)
      }
      fchmodSync(writer, 0o500)
    } finally {
      closeSync(writer)
    }
    const reader = openSync(path, constants.O_RDONLY)
    unlinkSync(path)
    if (readFileSync(`/proc/self/fd/${reader}`).equals(contents)) return reader
    closeSync(reader)
    throw new Error('the copy of the program was changed')
  } finally {
    rmdirSync(own)
  }
}

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { WorkerProgramOptions } from './worker-program.ts'

/** A worker in a process of its own. */
export interface WorkerProcess {
  readonly pid: number | undefined
  /** Resolves when it takes runs; rejects when it ends first. */
  readonly ready: Promise<void>
  /** Resolves to the exit code, or to the signal that ended it. */
  readonly ended: Promise<number | string | null>
  kill(signal: 'SIGKILL' | 'SIGTERM'): void
}

/** Most of a start is the compilation of the sources. */
const cache = join(tmpdir(), 'node-compile-cache')

const program = join(import.meta.dirname, 'worker-program.ts')

export function startWorkerProcess(options: WorkerProgramOptions): WorkerProcess {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      JSON.stringify(options),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_COMPILE_CACHE: cache } },
  )
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve()
    })
    void ended.then((how) => reject(new Error(`The worker ended before it was ready: ${how}.`)))
  })
  // Who does not wait for it kills it early on purpose.
  ready.catch(() => {})
  return { pid: child.pid, ready, ended, kill: (signal) => void child.kill(signal) }
}

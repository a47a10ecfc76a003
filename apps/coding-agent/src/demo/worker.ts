import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

/** A command line of this program in a process of its own. */
export interface Worker {
  readonly pid: number | undefined
  /** Resolves when the process has ended, with the signal that killed it, if any. */
  readonly ended: Promise<NodeJS.Signals | null>
  /** Sends SIGKILL. */
  kill(): void
}

/** Options of {@link startWorker}. */
export interface WorkerOptions {
  /** Receives each printed line. Undefined gives the worker this process's terminal. */
  readonly onLine: ((line: string) => void) | undefined
}

const program = fileURLToPath(new URL('../smithers.ts', import.meta.url))
const nodeOptions = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']

/** Starts `smithers` with the given arguments. */
export function startWorker(args: readonly string[], { onLine }: WorkerOptions): Worker {
  const worker = execa(process.execPath, [...nodeOptions, program, ...args], {
    stdio: onLine === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    buffer: false,
    reject: false,
  })
  if (onLine !== undefined) {
    for (const stream of [worker.stdout, worker.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', onLine)
    }
  }
  return {
    pid: worker.pid,
    ended: worker.then(({ signal }) => signal ?? null),
    kill: () => void worker.kill('SIGKILL'),
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A command line of this program, in a process of its own. */
export interface Worker {
  readonly pid: number | undefined
  /** Resolves when it has ended, with the signal that killed it. */
  readonly ended: Promise<NodeJS.Signals | null>
  kill(): void
}

/** How workers are started, and who is told what they print. */
export interface WorkerOptions {
  /** Undefined: they have this process's terminal to themselves. */
  readonly onLine: ((line: string) => void) | undefined
}

const program = fileURLToPath(new URL('../smithers.ts', import.meta.url))
const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']

/** Starts `smithers` with the given arguments. */
export function startWorker(args: readonly string[], { onLine }: WorkerOptions): Worker {
  const child = spawn(process.execPath, [...flags, program, ...args], {
    stdio: onLine === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  })
  if (onLine !== undefined) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', onLine)
    }
  }
  return { pid: child.pid, ended: endOf(child), kill: () => void child.kill('SIGKILL') }
}

async function endOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  await once(child, 'close')
  return child.signalCode
}

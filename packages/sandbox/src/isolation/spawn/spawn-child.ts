// node:child_process and not execa: measured here, `execa('true')` with `buffer: false` took 1.2 to 1.35 times as long
// as `spawn('true')` and 60 ms to import, more than this whole runner may add (`pnpm bench processes` shows both).
import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { closeDescriptors, descriptorSlots } from './child-descriptors.ts'
import type { OutputStream } from '../running-command.ts'
import { type CommandPipe, openCommandPipe } from './command-pipes.ts'
import type { WrappedCommand } from './wrapped-command.ts'

/** Real pipes for the output, one for both streams or one for each; none where they cannot be had. */
export function openPipes(mergeOutput: boolean): readonly CommandPipe[] {
  const wanted = mergeOutput ? 1 : 2
  const pipes = Array.from({ length: wanted }, openCommandPipe).filter((pipe) => pipe !== undefined)
  if (pipes.length === wanted) return pipes
  closeDescriptors(pipes.map(({ childEnd }) => childEnd))
  closePipes(pipes)
  return []
}

export function closePipes(pipes: readonly CommandPipe[]): void {
  for (const { stream } of pipes) stream.destroy()
}

/** Starts it: argv, the environment and the descriptors are exactly those of the wrapped command. */
export function spawnChild(
  command: WrappedCommand,
  { cwd, hasInput }: { readonly cwd: string; readonly hasInput: boolean },
  [stdout, stderr = stdout]: readonly CommandPipe[],
): ChildProcess {
  return spawn(command.file, command.args, {
    cwd,
    env: command.env,
    // Leader of a group and a session of its own, so that one signal reaches all that stay in it.
    detached: true,
    stdio: [
      hasInput ? 'pipe' : 'ignore',
      stdout?.childEnd ?? 'pipe',
      stderr?.childEnd ?? 'pipe',
      ...descriptorSlots(command.descriptors),
    ],
    windowsHide: true,
  })
}

/** The streams to read, by the name that their output gets. */
export function outputsOf(
  child: ChildProcess,
  pipes: readonly CommandPipe[],
): (readonly [OutputStream, Readable])[] {
  const streams =
    pipes.length === 0 ? [child.stdout, child.stderr] : pipes.map(({ stream }) => stream)
  return streams.flatMap((stream, index) =>
    stream === null ? [] : [[index === 0 ? 'stdout' : 'stderr', stream] as const],
  )
}

/** Why a child without a process id was not started. */
export function spawnFailure(child: ChildProcess): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => child.once('error', resolve))
}

/** How a child ended. */
export function exitOf(
  child: ChildProcess,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // A kill that failed reports here; the exit still comes.
    child.on('error', () => {})
  })
}

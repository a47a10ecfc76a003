import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { createSandbox } from '@smithers/sandbox'
import type { IsolationBackend } from '../../src/isolation/backend.ts'
import type { RunningCommand, StartRequest } from '../../src/isolation/running-command.ts'
import { bareBubblewrap } from '../bare-bubblewrap.ts'

/** Runs one command to its end; counts the bytes that it prints. */
export type Start = (argv: readonly [string, ...string[]]) => Promise<number>

/** Every way to run a command that is compared, by its name; `spawn` is the yardstick. */
export async function makeVariants(
  rootDir: string,
  working: readonly IsolationBackend[],
): Promise<Map<string, Start>> {
  const plain = plainSpawn(rootDir)
  return new Map<string, Start>([
    ['spawn', plain],
    ...working.map(
      (backend) => [`${backend.name}, backend alone`, alone(backend, rootDir)] as const,
    ),
    ...(await wholeSandboxes(rootDir, working)),
    // It runs one command only: the others would measure something else under its name.
    ['bwrap by hand, barest', (argv) => plain(['bwrap', ...barest(rootDir), ...argv])],
    ...(await sandboxRuntime(rootDir, plain)),
  ])
}

/** Starts a command by a backend, without the sandbox around it. */
export async function startAlone(
  backend: IsolationBackend,
  rootDir: string,
  argv: StartRequest['argv'],
): Promise<RunningCommand> {
  for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
  return backend.start({
    argv,
    cwd: rootDir,
    cwdHandle: rootDir,
    rootDir,
    policy: { network: 'none', read: [], protect: [], deny: [], limits: { temporaryMb: 64 } },
    env: { PATH: '/usr/bin:/bin', HOME: process.env['HOME'] ?? '/' },
    limits: { fileMb: null, cpuSeconds: null, processes: null },
    controlGroups: [],
    hasInput: false,
    mergeOutput: false,
  })
}

function barest(rootDir: string): readonly string[] {
  return bareBubblewrap(rootDir).barest.slice(0, -1)
}

function plainSpawn(rootDir: string): Start {
  return ([file, ...args]) =>
    new Promise((resolve, reject) => {
      const child = spawn(file, args, { cwd: rootDir, stdio: ['ignore', 'pipe', 'pipe'] })
      const bytes = counter(child.stdout)
      child.stderr.resume()
      child.on('error', reject)
      child.on('close', (code) =>
        code === 0 ? resolve(bytes()) : reject(new Error(`${file}: ${code}`)),
      )
    })
}

function counter(stream: Readable | undefined): () => number {
  let bytes = 0
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  return () => bytes
}

function alone(backend: IsolationBackend, rootDir: string): Start {
  return async (argv) => {
    const running = await startAlone(backend, rootDir, argv)
    const [[, stdout] = [], [, stderr] = []] = running.outputs
    const bytes = counter(stdout)
    stderr?.resume()
    const read = new Promise((resolve) => stdout?.once('close', resolve))
    const end = await running.ended
    // What is still in the pipe; nobody is left to write more.
    if (end.kind === 'exited' && end.allEnded) await read
    for (const [, stream] of running.outputs) stream.destroy()
    running.close?.()
    if (end.kind !== 'exited' || end.code !== 0) throw new Error(JSON.stringify(end))
    return bytes()
  }
}

async function wholeSandboxes(
  rootDir: string,
  working: readonly IsolationBackend[],
): Promise<(readonly [string, Start])[]> {
  const found: (readonly [string, Start])[] = []
  for (const { name } of working) {
    const sandbox = await createSandbox({ rootDir, isolation: { require: [], backend: name } })
    const start: Start = async ([command, ...args]) => {
      const { exitCode, output, omittedBytes } = await sandbox.run(command, args)
      if (exitCode !== 0) throw new Error(`${command}: ${exitCode}`)
      return output.length + omittedBytes
    }
    found.push([`${name}, sandbox.run`, start])
  }
  return found
}

/** As its users start a command: the command line is made for each, and read by a shell. */
async function sandboxRuntime(
  rootDir: string,
  plain: Start,
): Promise<(readonly [string, Start])[]> {
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [rootDir], denyWrite: [] },
    })
  } catch (error) {
    console.log(`without sandbox-runtime: ${(error as Error).message}`)
    return []
  }
  const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
  const start: Start = async (argv) =>
    plain(['/bin/sh', '-c', await SandboxManager.wrapWithSandbox(argv.map(quoted).join(' '))])
  return [['sandbox-runtime', start]]
}

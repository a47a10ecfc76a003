import { once } from 'node:events'
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { IsolationBackend, IsolationProperty } from './backend.ts'
import { canaryProgram, type CanaryReport, type CanaryTraps } from './canary-program.ts'
import { makeTemporaryDirectory } from './process-directory.ts'
import type { CommandEnd } from './running-command.ts'
import { homeDirectory } from '../options/home-directory.ts'

/** The part of a backend that starts commands. */
type Starter = Pick<IsolationBackend, 'prepare' | 'start'>

/** What became of the canary. */
export interface CanaryFindings {
  /** It ran to its end and wrote inside the root: only then do the faults that are missing mean anything. */
  readonly ran: boolean
  /** What it managed to do, or left behind. */
  readonly faults: readonly { readonly what: IsolationProperty; readonly why: string }[]
  /** A system-call filter was active. */
  readonly filtered: boolean
  readonly stderr: string
}

/**
 * Starts a program that tries to write outside, to read a secret, to connect to a TCP and to unix sockets
 * which this function listens on, to create a user namespace, to open a system setting for writing, and to leave a
 * process behind; and says what succeeded. Judged from outside where outside can see it.
 *
 * @throws the system's error when a trap cannot be set
 */
export async function runCanary(starter: Starter): Promise<CanaryFindings> {
  const base = makeTemporaryDirectory('canary')
  const servers: Server[] = []
  const reached = new Set<string>()
  const listen = async (
    name: string,
    where: { port: number; host: string } | { path: string },
  ): Promise<Server> => {
    const server = createServer((socket) => {
      reached.add(name)
      socket.destroy()
    })
    servers.push(server)
    await once(server.listen(where), 'listening')
    return server
  }
  try {
    const [rootDir, outside] = [join(base, 'root'), join(base, 'outside')]
    mkdirSync(rootDir)
    mkdirSync(outside)
    const secret = join(outside, 'secret')
    const secretText = `canary ${base}`
    writeFileSync(secret, secretText)
    const path = join(outside, 'socket')
    const abstract = `\0${base}`
    const tcp = await listen('a TCP port', { port: 0, host: '127.0.0.1' })
    await listen('a unix socket', { path })
    if (process.platform === 'linux') await listen('an abstract unix socket', { path: abstract })

    const traps: CanaryTraps = {
      inside: join(rootDir, 'written'),
      outside: join(outside, 'written'),
      secret,
      // Listening on a port: never a string, never null.
      port: (tcp.address() as AddressInfo).port,
      sockets: process.platform === 'linux' ? [path, abstract] : [path],
    }
    const outcome = await runConfined(starter, rootDir, traps)
    const report = parseReport(outcome.stdout)
    return {
      ran: report !== null && readText(traps.inside) === 'canary',
      faults: findFaults({
        wroteOutside: readText(traps.outside) !== null,
        readSecret: report?.secret === secretText,
        reached,
        report,
        ended: outcome.ended,
      }),
      filtered: report?.seccomp === '2',
      stderr: outcome.stderr,
    }
  } finally {
    for (const server of servers) server.close()
    rmSync(base, { recursive: true, force: true })
  }
}

interface CanaryEffects {
  readonly wroteOutside: boolean
  readonly readSecret: boolean
  /** The servers of this process that the canary connected to. */
  readonly reached: ReadonlySet<string>
  readonly report: CanaryReport | null
  /** No process that the canary started outlived it. */
  readonly ended: boolean
}

function findFaults(effects: CanaryEffects): CanaryFindings['faults'] {
  const { wroteOutside, readSecret, reached, report, ended } = effects
  const faults: { what: IsolationProperty; why: string }[] = []
  const fault = (what: IsolationProperty, why: string): void => void faults.push({ what, why })
  if (wroteOutside) fault('files', 'A canary wrote a file outside its root.')
  if (readSecret) fault('files', 'A canary read a file beside its root.')
  for (const name of reached)
    fault('network', `A canary reached ${name} on which this process listened.`)
  if (report?.userNamespace === true) fault('syscalls', 'A canary created a user namespace.')
  if (report?.systemSettings === true)
    fault('files', 'A canary opened a setting in /proc/sys for writing.')
  if (!ended) fault('kill', 'A process that a canary left behind outlived it.')
  return faults
}

interface CanaryOutcome {
  readonly stdout: string
  readonly stderr: string
  /** Every process with the output open has ended. */
  readonly ended: boolean
}

// The canary takes about 60 ms; a machine that needs this long cannot be judged.
const canaryTimeoutMs = 20_000

/**
 * How long a process may take to die with the canary, as pauses: when the machine stands still, that is one of them. The
 * process that is left behind lives for half a minute by itself.
 */
const survivorPauses = 40
const survivorPauseMs = 50

async function runConfined(
  { prepare, start }: Starter,
  rootDir: string,
  traps: CanaryTraps,
): Promise<CanaryOutcome> {
  const node = realpathSync(process.execPath)
  await prepare()
  const running = start({
    argv: [node, '-e', canaryProgram, JSON.stringify(traps)],
    cwd: rootDir,
    cwdHandle: rootDir,
    rootDir,
    policy: {
      network: 'none',
      read: [dirname(node)],
      protect: [],
      deny: [],
      limits: { temporaryMb: 16 },
    },
    // Electron runs as Node only with this variable.
    env: { PATH: '/usr/bin:/bin', HOME: homeDirectory(), ELECTRON_RUN_AS_NODE: '1' },
    limits: { fileMb: null, cpuSeconds: null, processes: null },
    controlGroups: [],
    hasInput: false,
    mergeOutput: false,
  })
  const output = { stdout: '', stderr: '' }
  // Settled, not all: the streams of a command that did not start are cut off.
  const closed = Promise.allSettled(
    running.outputs.map(async ([name, stream]) => {
      for await (const chunk of stream.setEncoding('utf8')) output[name] += String(chunk)
    }),
  )
  const timer = setTimeout(() => running.kill(), canaryTimeoutMs)
  try {
    const end = await running.ended
    if (end.kind === 'not-started') return { ...output, stderr: end.error.message, ended: true }
    const ended = await settlesSoon(closed)
    return { ...output, stderr: output.stderr || describeEnd(end), ended }
  } finally {
    clearTimeout(timer)
    for (const [, stream] of running.outputs) stream.destroy()
    running.close?.()
  }
}

/** For a canary that did not run and said nothing. */
function describeEnd(end: Exclude<CommandEnd, { kind: 'not-started' }>): string {
  if (end.kind === 'lost') return end.why.replace(/\.$/, '')
  return end.signal === null ? `it exited with code ${end.code}` : `it was ended by ${end.signal}`
}

async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(() => true)
  for (let pause = 0; pause < survivorPauses; pause += 1) {
    if (await Promise.race([settled, delay(survivorPauseMs, false, { ref: false })])) return true
  }
  return false
}

function parseReport(stdout: string): CanaryReport | null {
  try {
    // Written by our own program; a forged one can only add faults, since the effects are checked as well.
    return JSON.parse(stdout.trim()) as CanaryReport
  } catch {
    return null
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

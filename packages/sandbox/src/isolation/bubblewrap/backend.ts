import { spawnSync } from 'node:child_process'
import { anonymousFile, openStartStatus, type StartStatus } from './handed-descriptors.ts'
import type { NotEnforced, ProbeResult } from '../backend.ts'
import { type SpawningBackend, startBySpawn } from '../spawn/start-by-spawn.ts'
import type { WrappedCommand, WrapRequest } from '../spawn/wrapped-command.ts'
import { type BubblewrapFacts, bubblewrapArguments } from './arguments.ts'
import { bubblewrapFailure, notVisibleInside, startFailure } from './failure.ts'
import { runCanary } from '../canary.ts'
import { closeDescriptors } from '../spawn/child-descriptors.ts'
import { visibleDirectories } from './command-directories.ts'
import { encodeNames } from '../../path-rules/path-bytes.ts'
import { withForwarder } from './forwarder.ts'
import { etcSnapshotFor } from './etc-snapshot.ts'
import { isExecutable } from '../is-executable.ts'
import { hasSystemCallFilter, systemCallFilter } from './seccomp-filter.ts'
import { knownSystemMounts, settingsFor } from './system-mounts.ts'
import { visibleTools } from './visible-tools.ts'

/**
 * Returns the backend that runs each command by bubblewrap in namespaces of its own (Linux).
 *
 * Guarantees, for root and for ordinary users alike: a command can write the root (but for protected names) and private
 * temporary directories, and nothing else; it can read those, the system's programs, tools on PATH and what the policy
 * names; with `network: 'none'` no packet and no connection leaves; it sees no process but its own, and none of its
 * processes outlives it, also when this process is killed.
 *
 * Does not protect against: bugs of the kernel; a service that listens on a socket file inside the root or a readable
 * directory; use of the machine's time and memory; with `network: 'host'`, abstract unix sockets and all else that is
 * reachable from here.
 */
export function createBubblewrap(): SpawningBackend {
  const spawning = startBySpawn(wrap, { hasProcessNamespace: true })
  return {
    name: 'bubblewrap',
    probe: () => probeBubblewrap(spawning),
    wrap,
    ...spawning,
  }
}

function wrap(request: WrapRequest): WrappedCommand {
  const found = bubblewrap()
  if (found === null || !hasSystemCallFilter(process.arch)) {
    throw new Error('wrap was called on a backend whose probe says that it does not work here')
  }
  const { rootDir, policy, env, cwd, command = request.argv[0] } = request
  const system = knownSystemMounts(settingsFor(policy))
  const toolchains = visibleTools(
    { command, cwd, rootDir, policy, env },
    visibleDirectories(policy, system),
  )
  const facts: BubblewrapFacts = {
    system,
    etcSnapshot: etcSnapshotFor(request, system, toolchains),
    toolchains,
    systemCallFilter: systemCallFilter(process.arch),
    mountsDescriptors: found.options.has('--bind-fd'),
  }
  return handOver(request, found.path, facts)
}

/** Hands the options to `bwrap` by descriptor, so that no list of processes shows the environment. */
function handOver(request: WrapRequest, file: string, facts: BubblewrapFacts): WrappedCommand {
  const { options, descriptors } = bubblewrapArguments(request, facts)
  const { proxy } = request.policy
  const statuses: StartStatus[] = []
  const closeStatuses = (): void => {
    for (const status of statuses.splice(0)) status.close()
  }
  try {
    if (request.reportsStart === true) statuses.push(openStartStatus())
    // bwrap takes the forwarder for the command.
    if (proxy !== undefined) statuses.push(openStartStatus())
    const list = anonymousFile(encodeNames(`${options.join('\0')}\0`))
    const firstStatus = 4 + descriptors.length
    const forwarding = firstStatus + statuses.length - 1
    return {
      file,
      args: [
        '--args',
        '3',
        ...(request.reportsStart === true ? ['--json-status-fd', String(firstStatus)] : []),
        '--',
        ...withForwarder(request.argv, proxy, forwarding),
      ],
      // bwrap runs outside: nothing that its own loader would obey (LD_PRELOAD) comes near it.
      env: {},
      cwd: '/',
      descriptors: [list, ...descriptors, ...statuses.map(({ descriptor }) => descriptor)],
      startFailure: (printed) => whyNotStarted(request, statuses, printed),
      close: closeStatuses,
    }
  } catch (error) {
    closeDescriptors(statuses.map(({ descriptor }) => descriptor))
    closeStatuses()
    closeDescriptors(descriptors)
    throw error
  }
}

/** `null` when the command was started, whatever it printed. */
function whyNotStarted(
  { argv: [program], policy, reportsStart }: WrapRequest,
  statuses: readonly StartStatus[],
  printed: string,
): string | null {
  const hasForwarder = policy.proxy !== undefined
  if (hasForwarder && statuses.at(-1)?.read() !== '') return notVisibleInside
  // bwrap writes the exit code only when the program itself was executed.
  const hasStarted = reportsStart === true && statuses[0]?.read().includes('"exit-code"') === true
  return hasStarted ? null : startFailure(printed, program)
}

async function probeBubblewrap(
  spawning: Pick<SpawningBackend, 'prepare' | 'start'>,
): Promise<ProbeResult> {
  const obstacle = obstacleTo(bubblewrap())
  if (obstacle !== null) return refusal([obstacle])
  const findings = await runCanary(spawning).catch((error: Error) => error)
  if (findings instanceof Error) {
    const why = `The canary that proves isolation could not be set up: ${findings.message}.`
    return refusal([{ what: 'files', why, fix: 'Make the temporary directory (TMPDIR) writable.' }])
  }
  if (!findings.ran) return refusal([bubblewrapFailure(findings.stderr)])
  const faults = findings.faults.map((fault) => ({ ...fault, fix: reportFault }))
  if (!findings.filtered) {
    const why = 'The system-call filter was not loaded.'
    faults.push({ what: 'syscalls', why, fix: 'Use a kernel with CONFIG_SECCOMP_FILTER.' })
  }
  if (faults.length > 0) return refusal(faults)
  const weaker = bubblewrap()?.options.has('--bind-fd') === true ? [] : [protectedByWatching]
  return { usable: true, enforced: allEnforced, notEnforced: weaker }
}

const allEnforced = {
  files: 'enforced',
  network: 'enforced',
  kill: 'enforced',
  syscalls: 'enforced',
} as const

const reportFault =
  'This is a fault of the kernel or of this package, not a setting: please report it as SECURITY.md says.'

const protectedByWatching: NotEnforced = {
  what: 'files',
  why: 'This bwrap cannot mount open descriptors: protected names are compared before and after a command, not mounted read-only.',
  fix: 'Install bubblewrap 0.10 or newer, or the security update of an older one (Debian 0.8.0-2+deb12u1).',
}

interface BubblewrapProgram {
  readonly path: string
  readonly options: ReadonlySet<string>
}

// Not PATH: a project may put its own `bwrap` there, and it would run unconfined.
const programPaths = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]

let cached: { readonly found: BubblewrapProgram | null } | undefined

function bubblewrap(): BubblewrapProgram | null {
  cached ??= { found: findBubblewrap() }
  return cached.found
}

function findBubblewrap(): BubblewrapProgram | null {
  const path = programPaths.find(isExecutable)
  if (path === undefined) return null
  const { stdout } = spawnSync(path, ['--help'], { encoding: 'utf8', env: {}, timeout: 10_000 })
  return { path, options: new Set(stdout.match(/--[a-z][a-z0-9-]*/g)) }
}

// The newest option that confinement needs; added in 0.8.
const newestNeededOption = '--disable-userns'

function obstacleTo(program: BubblewrapProgram | null): NotEnforced | null {
  if (process.platform !== 'linux') {
    return {
      what: 'files',
      why: 'bubblewrap exists on Linux only.',
      fix: 'Run on Linux, or in a Linux container.',
    }
  }
  if (!hasSystemCallFilter(process.arch)) {
    const why = `No system-call filter exists for ${process.arch}.`
    return { what: 'syscalls', why, fix: 'Run on x64 or arm64.' }
  }
  if (program === null) {
    return {
      what: 'files',
      why: `bubblewrap is not installed (looked for ${programPaths.join(', ')}).`,
      fix: 'Install it: `apt-get install bubblewrap`, `dnf install bubblewrap`, `apk add bubblewrap` or `pacman -S bubblewrap`.',
    }
  }
  if (!program.options.has(newestNeededOption)) {
    const why = `${program.path} has no option ${newestNeededOption}.`
    return { what: 'files', why, fix: 'Install bubblewrap 0.8 or newer.' }
  }
  return null
}

function refusal(notEnforced: readonly NotEnforced[]): ProbeResult {
  return {
    usable: false,
    enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
    notEnforced,
  }
}

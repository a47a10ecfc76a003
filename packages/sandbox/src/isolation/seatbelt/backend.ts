import { existsSync } from 'node:fs'
import type { ProbeResult } from '../backend.ts'
import { runCanary } from '../canary.ts'
import { type SpawningBackend, startBySpawn } from '../spawn/start-by-spawn.ts'
import type { WrappedCommand, WrapRequest } from '../spawn/wrapped-command.ts'
import { seatbeltProfile } from './profile.ts'

/**
 * Returns the backend that runs each command under macOS's `sandbox-exec`. Not tested on macOS: the profile is tested
 * as text, and the canary refuses the backend on a machine where it does not hold.
 *
 * Guarantees, once the canary has passed: as {@link seatbeltProfile} says.
 * Does not protect against: a process that outlives its command (`kill` is best-effort), memory and time.
 */
export function createSeatbelt(): SpawningBackend {
  return { name: 'seatbelt', probe, wrap, ...spawning }
}

// Apple's own; never looked up on PATH, where a project may put another.
const program = '/usr/bin/sandbox-exec'

function wrap({ argv, cwd, rootDir, policy, env }: WrapRequest): WrappedCommand {
  const { profile, parameters } = seatbeltProfile({ rootDir, policy, temporary: env['TMPDIR'] })
  const definitions = Object.entries(parameters).flatMap(([name, value]) => [
    '-D',
    `${name}=${value}`,
  ])
  return {
    file: program,
    args: ['-p', profile, ...definitions, '--', ...argv],
    env: policy.home === undefined ? env : { ...env, HOME: policy.home.whole },
    cwd,
    descriptors: [],
  }
}

const spawning = startBySpawn(wrap, { hasProcessNamespace: false })

async function probe(): Promise<ProbeResult> {
  if (process.platform !== 'darwin' || !existsSync(program)) {
    return unusable('sandbox-exec exists on macOS only.', 'On Linux, install bubblewrap.')
  }
  const findings = await runCanary(spawning).catch((error: Error) => error)
  if (findings instanceof Error) {
    return unusable(`The canary could not be set up: ${findings.message}.`, 'Make TMPDIR writable.')
  }
  const faults = findings.faults.filter(({ what }) => what !== 'kill' && what !== 'syscalls')
  if (!findings.ran || faults.length > 0) {
    const why =
      faults[0]?.why ?? `sandbox-exec did not run a command: ${findings.stderr.slice(0, 300)}`
    return unusable(why, 'Run in a Linux container with bubblewrap.')
  }
  return {
    usable: true,
    enforced: { files: 'enforced', network: 'enforced', kill: 'best-effort', syscalls: 'none' },
    notEnforced: [
      { what: 'kill', why: 'macOS has no process namespaces.', fix: linuxInstead },
      { what: 'syscalls', why: 'macOS has no system-call filter for programs.', fix: linuxInstead },
    ],
  }
}

const linuxInstead = 'Run in a Linux container with bubblewrap.'

function unusable(why: string, fix: string): ProbeResult {
  return {
    usable: false,
    enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
    notEnforced: [{ what: 'files', why, fix }],
  }
}

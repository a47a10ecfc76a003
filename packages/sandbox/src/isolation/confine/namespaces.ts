import { statSync } from 'node:fs'
import type { IsolationBackend } from '../backend.ts'
import { commandDirectories } from '../bubblewrap/command-directories.ts'
import { etcSnapshotFor } from '../bubblewrap/etc-snapshot.ts'
import { systemCallFilter } from '../bubblewrap/seccomp-filter.ts'
import type { FilterArchitecture } from '../bubblewrap/seccomp-table.ts'
import { knownSystemMounts, settingsFor } from '../bubblewrap/system-mounts.ts'
import type { ResourceLimits, RunningCommand, StartRequest } from '../running-command.ts'
import { encodeTemplate } from './frames.ts'
import { prepareHelper, requireHelper } from './helper.ts'
import { keyOfFiles } from './landlock-rules.ts'
import { keyOfSteps } from './mount-step.ts'
import {
  commandMounts,
  identityOfStatus,
  type NamespaceFacts,
  templateMounts,
} from './namespace-mounts.ts'
import { probeNamespaces } from './namespaces-probe.ts'
import { startByHelper } from './start-by-helper.ts'
import { findProgram } from './program.ts'
import { visibleTools } from '../bubblewrap/visible-tools.ts'

/**
 * Returns the backend that confines commands in namespaces of their own, started by this package's helper (Linux 5.12 and
 * newer, where user namespaces are allowed). It gives what bubblewrap gives, and needs nothing installed.
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
export function createNamespaces(): IsolationBackend {
  return {
    name: 'namespaces',
    prepare: prepareHelper,
    start,
    probe: () => probeNamespaces({ prepare: prepareHelper, start }),
  }
}

function start(request: StartRequest): RunningCommand {
  const helper = requireHelper()
  const { policy } = request
  const system = knownSystemMounts(settingsFor(policy))
  const tools = visibleTools({ ...request, command: request.argv[0] }, [
    ...system.programs.visible,
    ...system.etc.directories,
  ])
  const facts: NamespaceFacts = {
    system,
    etcSnapshot: etcSnapshotFor(request, system, tools),
    directories: commandDirectories(request, { system, toolchains: tools }),
    connector: policy.proxy === undefined ? null : connectorProgram(),
  }
  const template = templateMounts(request, facts)
  const key = [
    'namespaces',
    settingsFor(policy),
    keyOfFiles([...facts.directories.readable, '', ...facts.directories.writable]),
    keyOfSteps(template),
  ].join('\n')
  const id = helper.policy(key, (number) =>
    encodeTemplate(number, {
      sharesNetwork: policy.network === 'host',
      mounts: template,
      // The probe has found a program for it.
      filter: systemCallFilter(process.arch as FilterArchitecture),
    }),
  )
  return startByHelper(
    helper,
    {
      policy: id,
      cwd: request.cwd,
      proxy: policy.proxy,
      cwdIdentity: identityOfStatus(statSync(request.cwdHandle, { bigint: true })),
      mounts: commandMounts(request, facts),
      argv: request.argv,
      env: Object.entries(request.env).map(([name, value]) => `${name}=${value}`),
    },
    { ...request, limits: withOurProcesses(request.limits) },
    { template },
  )
}

let connector: string | undefined

/** The file of the program that has started the helper, which checked it. */
function connectorProgram(): string | null {
  const found = connector === undefined ? findProgram() : { path: connector }
  if ('why' in found) return null
  connector = found.path
  return connector
}

/** The supervisor and the first process inside are counted, too. */
function withOurProcesses(limits: ResourceLimits): ResourceLimits {
  return limits.processes === null ? limits : { ...limits, processes: limits.processes + 2 }
}

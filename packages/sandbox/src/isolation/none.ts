import type { ProbeResult } from './backend.ts'
import { type SpawningBackend, startBySpawn } from './spawn/start-by-spawn.ts'
import type { WrappedCommand, WrapRequest } from './spawn/wrapped-command.ts'

/**
 * Returns the backend that confines nothing: commands run as the calling user, with all that user's rights.
 *
 * Guarantees: the command gets the environment of the request and no other.
 * Does not protect against: anything else. The static network policy, group kill and sweep are the runner's.
 */
export function createNoIsolation(): SpawningBackend {
  return {
    name: 'none',
    probe: () => Promise.resolve(probed),
    wrap,
    ...startBySpawn(wrap, { hasProcessNamespace: false }),
  }
}

const fix =
  "Install bubblewrap on Linux (`apt-get install bubblewrap`), or see `isolation` in the package's README."

const probed: ProbeResult = {
  usable: true,
  enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
  notEnforced: [
    { what: 'files', why: 'Commands run with all the rights of the calling user.', fix },
    {
      what: 'network',
      why: 'Only the static check of the command line keeps commands off the network.',
      fix,
    },
    {
      what: 'kill',
      why: 'A child that leaves its process group and clears its environment can outlive the command.',
      fix,
    },
    { what: 'syscalls', why: 'No system-call filter is loaded.', fix },
  ],
}

function wrap(request: WrapRequest): WrappedCommand {
  const [file, ...args] = request.argv
  return { file, args, env: request.env, cwd: request.cwd, descriptors: [] }
}

import type { IsolationBackend, NotEnforced, ProbeResult } from '../backend.ts'
import { runCanary } from '../canary.ts'
import { ensureHelper } from './helper.ts'
import { HelperProcess } from './helper-process.ts'

type Starter = Pick<IsolationBackend, 'prepare' | 'start'>

/** Tries namespaces live, by the canary of all backends: whether a machine allows them shows only when they are used. */
export async function probeNamespaces(starter: Starter): Promise<ProbeResult> {
  const helper = await ensureHelper()
  if (!(helper instanceof HelperProcess)) return refusal([{ what: 'files', ...helper }])
  try {
    const { ran, faults, filtered, stderr } = await runCanary(starter)
    if (!ran) return refusal([obstacle(stderr)])
    const all: NotEnforced[] = faults.map((fault) => ({ ...fault, fix: reportFault }))
    if (!filtered) {
      const why = 'The system-call filter was not loaded.'
      all.push({ what: 'syscalls', why, fix: 'Use a kernel with CONFIG_SECCOMP_FILTER.' })
    }
    if (all.length > 0) return refusal(all)
  } catch (error) {
    const why = `The canary that proves isolation could not be set up: ${(error as Error).message}.`
    return refusal([{ what: 'files', why, fix: 'Make the temporary directory (TMPDIR) writable.' }])
  }
  return {
    usable: true,
    enforced: { files: 'enforced', network: 'enforced', kill: 'enforced', syscalls: 'enforced' },
    notEnforced: [],
  }
}

const reportFault =
  'This is a fault of the kernel or of this package, not a setting: please report it as SECURITY.md says.'

/** Says in a user's words why a command could not be started, from what the helper said. */
function obstacle(message: string): NotEnforced {
  const why = `Commands cannot be given namespaces here: ${message.trim().slice(0, 300)}.`
  const known = causes.find(({ pattern }) => pattern.test(message))
  return { what: 'files', why, fix: known?.fix ?? allowThem }
}

const allowThem =
  'Allow user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000` as root, and on Ubuntu `kernel.apparmor_restrict_unprivileged_userns=0`; in a container, start it with a seccomp profile that allows them.'

const causes: readonly { readonly pattern: RegExp; readonly fix: string }[] = [
  { pattern: / ENOSYS: /, fix: 'Use Linux 5.12 or newer.' },
  {
    pattern: /at \/proc$/,
    fix: 'The container hides parts of /proc, so no new one may be mounted: start it with `--security-opt systempaths=unconfined`.',
  },
]

function refusal(notEnforced: readonly NotEnforced[]): ProbeResult {
  return {
    usable: false,
    enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
    notEnforced,
  }
}

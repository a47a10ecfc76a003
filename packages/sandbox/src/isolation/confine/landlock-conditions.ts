import type { BackendConditions, NotEnforced, PolicyDemands } from '../backend.ts'
import type { Limitation } from '../limitation.ts'

/** What the kernel gives. */
export interface LandlockFacts {
  readonly version: number
  readonly vets: boolean
}

const fix = 'Allow user namespaces, or install bubblewrap.'

/** Says what Landlock does not stop, and what works less under it, for one policy on this kernel. */
export function landlockConditions(
  demands: PolicyDemands,
  facts: LandlockFacts,
): BackendConditions {
  const isPartial = demands.denies || !facts.vets
  return {
    enforced: isPartial ? { files: 'partial' } : {},
    notEnforced: notEnforced(demands, facts),
    limitations: limitations(demands, facts),
  }
}

function notEnforced({ denies, protects }: PolicyDemands, { vets }: LandlockFacts): NotEnforced[] {
  const entries: NotEnforced[] = []
  if (denies) {
    const why =
      'Landlock grants whole directories: commands can read and change the names in files.deny.'
    entries.push({ what: 'files', code: 'DENIED_NAMES_READABLE', why, fix })
  }
  if (!vets) {
    const why =
      "Calls cannot be judged here: modes, owners and times of the user's own files can be changed everywhere."
    entries.push({ what: 'files', code: 'METADATA_CHANGEABLE', why, fix })
  }
  if (protects) {
    const why =
      'Protected names in the root are compared before and after a command: changes are undone and reported then, not prevented.'
    entries.push({ what: 'files', code: 'PROTECTED_NAMES_WATCHED', why, fix })
  }
  entries.push(
    {
      what: 'files',
      code: 'METADATA_VISIBLE',
      why: 'Outside the root, commands can learn names, sizes, times, link targets, extended attributes and file events of what the user may look at; not contents, and not lists of directories.',
      fix,
    },
    {
      what: 'files',
      code: 'PROCESS_LIST_VISIBLE',
      why: 'Commands can see the names and arguments of all processes of the machine.',
      fix,
    },
  )
  return entries
}

function limitations({ network }: PolicyDemands, { version }: LandlockFacts): Limitation[] {
  const found: Limitation[] = [
    {
      code: 'NO_TERMINALS',
      why: 'The terminals of /dev are those of the machine: commands cannot open pseudo-terminals.',
      fix,
    },
    {
      code: 'NO_SHARED_MEMORY',
      why: "/dev/shm and System V objects are the machine's: POSIX semaphores (Python's multiprocessing.Pool) do not work.",
      fix,
    },
    {
      code: 'NO_PRIVATE_TMP',
      why: 'Commands cannot use /tmp. TMPDIR names a private directory.',
      fix,
    },
    {
      code: 'NO_TEMPORARY_LIMIT',
      why: 'The size of the private temporary directory is not limited.',
      fix,
    },
  ]
  if (network === 'none') {
    found.push(
      {
        code: 'NO_LOOPBACK',
        why: 'Servers and clients on 127.0.0.1 do not work: without a network namespace the addresses are those of the machine.',
        fix,
      },
      {
        code: 'NO_DATAGRAM_SOCKETS',
        why: 'A datagram reaches every socket of the machine without a connection, so unix sockets are stream and packet ones only.',
        fix,
      },
    )
  } else if (version < 9) {
    const why =
      'With the network open, connections to unix sockets cannot be judged, so commands have none.'
    found.push({ code: 'NO_UNIX_SOCKETS', why, fix: `Use Linux 7.1 or newer. ${fix}` })
  }
  if (version < 2) {
    const why = 'Files cannot be renamed or linked from one directory to another.'
    found.push({ code: 'NO_MOVES_BETWEEN_DIRECTORIES', why, fix: 'Use Linux 5.19 or newer.' })
  }
  return found
}

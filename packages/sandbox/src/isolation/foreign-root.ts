import { statSync } from 'node:fs'
import type { IsolationBackendName, NotEnforced } from './backend.ts'

const backendsOfLinux: readonly IsolationBackendName[] = ['namespaces', 'bubblewrap', 'landlock']

/**
 * Says so when commands cannot write their own root: on Linux root has its number and none of its rights, so a
 * directory of another user is closed to it. `null` when they can.
 */
export function foreignRoot(rootDir: string, backend: IsolationBackendName): NotEnforced | null {
  if (!backendsOfLinux.includes(backend) || process.geteuid?.() !== 0) return null
  const { uid, gid, mode } = statSync(rootDir)
  const isOpen = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid === process.getegid?.())
  if (uid === 0 || isOpen) return null
  return {
    what: 'files',
    code: 'ROOT_OF_ANOTHER_USER',
    why: `The root directory belongs to user ${uid}, and commands run as root without root's rights: they can read what everybody may read there, and write nothing.`,
    fix: `Run Node as user ${uid}, for example with \`setpriv --reuid=${uid} --clear-groups\`, or give the directory to root.`,
  }
}

import type { NotEnforced } from '../backend.ts'

/** Says in a user's words why `bwrap` did not start, from what it printed. */
export function bubblewrapFailure(stderr: string): NotEnforced {
  const printed = stderr.trim().split('\n').at(-1) ?? ''
  const known = causes.find(({ pattern }) => pattern.test(printed))
  const why = `bubblewrap did not start${printed === '' ? '' : `: ${printed.slice(0, 300)}`}.`
  return {
    what: 'files',
    why,
    fix: known?.fix ?? 'Run `bwrap --unshare-all --ro-bind / / true` to see why.',
  }
}

/** Why a program could not be executed that was found outside. */
export const notVisibleInside =
  'the program, or the interpreter that its first line names, cannot be seen inside. Name its directory in files.read'

/**
 * Says why `bwrap` could not start a command, from all that was printed; `null` when it says nothing of the kind. Asked
 * where its status does not say that the command was started: a command can print the same.
 */
export function startFailure(printed: string, program: string): string | null {
  if (!printed.startsWith('bwrap: ')) return null
  if (printed.startsWith(`bwrap: execvp ${program}: `)) {
    return notVisibleInside
  }
  if (
    /^bwrap: Can't (?:bind mount|find source path|mkdir|create file|chdir|mount) /.test(printed)
  ) {
    if (printed.includes('Permission denied')) {
      return 'a directory that it needs may not be entered. Restore its permissions (chmod u+rwx)'
    }
    return 'a directory that it needs changed while the sandbox was set up. Run it again'
  }
  if (/Resource temporarily unavailable|Cannot allocate memory/.test(printed)) {
    return 'the operating system has no process or memory left for it. End others or try again later'
  }
  const [line = ''] = printed.split('\n', 1)
  return `isolation could not be set up (${line.slice(0, 300)}). Try again`
}

const causes: readonly { readonly pattern: RegExp; readonly fix: string }[] = [
  {
    pattern: /uid map|loopback|RTM_NEWADDR/i,
    fix: 'This system lets AppArmor restrict user namespaces: install a profile for bwrap that allows `userns`, or run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` as root.',
  },
  {
    pattern:
      /No permissions to creat\w* (?:a )?new namespace|kernel does not allow|max_user_namespaces/i,
    fix: 'Allow user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000` as root; in a container, start it with a seccomp profile that allows them.',
  },
  {
    pattern: /mount proc/i,
    fix: 'The container hides parts of /proc, so no new one may be mounted: start it with `--security-opt systempaths=unconfined`.',
  },
  {
    pattern: /make \/ slave|pivot_root|mount/i,
    fix: "The container's seccomp profile forbids mounts: start it with one that allows `mount` and `pivot_root` in user namespaces.",
  },
]

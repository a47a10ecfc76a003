import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'

/** What every confined command sees of the system besides its root. */
export interface SystemMounts {
  /** Arguments of `bwrap` that put the system's programs and libraries in place. */
  readonly arguments: readonly string[]
  /** Files of `/etc` to copy in: a copy costs a fifth of a mount. */
  readonly copies: readonly string[]
  /** Directories that are visible already: nothing beneath them needs a mount of its own. */
  readonly visible: readonly string[]
}

/**
 * Reads which of the allow-listed places of the system exist here. They are programs, libraries and public settings;
 * nothing that holds a secret or a socket: not `/run`, `/var`, `/sys`, `/home`, nor the rest of `/etc`.
 */
export function systemMounts(network: 'none' | 'host'): SystemMounts {
  const args: string[] = ['--perms', '0755', '--dir', '/etc', '--ro-bind', '/usr', '/usr']
  const visible: string[] = ['/usr']
  for (const name of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const kind = kindOf(name)
    if (kind === 'link') args.push('--symlink', readlinkSync(name), name)
    else if (kind === 'directory') args.push('--ro-bind', name, name)
    else continue
    visible.push(name)
  }
  const settings = [...settingsDirectories, ...(network === 'host' ? certificateDirectories : [])]
  for (const name of [...programStores, ...settings, ...javaSettings()]) {
    if (kindOf(name) !== 'directory') continue
    args.push('--ro-bind', name, name)
    visible.push(name)
  }
  const copies: string[] = []
  for (const name of [...settingsFiles, ...(network === 'host' ? resolverFiles : [])]) {
    const target = resolvedFile(name)
    if (target === null) continue
    // A link into /usr (time zone, os-release) can stay one.
    if (target !== name && target.startsWith('/usr/')) args.push('--symlink', target, name)
    else copies.push(name)
  }
  return { arguments: args, copies, visible }
}

// Systems that keep their programs elsewhere: content-addressed and world-readable by design.
const programStores = ['/nix/store', '/run/current-system/sw', '/gnu/store'] as const

// Debian's links from a command's common name (`awk`, `cc`, `java`) to the program.
const settingsDirectories = ['/etc/alternatives'] as const

// Only with a network: the private halves sit beside them, so never all of /etc/ssl or /etc/pki.
const certificateDirectories = [
  '/etc/ssl/certs',
  '/etc/ca-certificates',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
] as const

const settingsFiles = [
  '/etc/passwd',
  '/etc/group',
  '/etc/nsswitch.conf',
  '/etc/hosts',
  '/etc/localtime',
  '/etc/ld.so.cache',
  '/etc/os-release',
  '/etc/ssl/openssl.cnf',
] as const

const resolverFiles = [
  '/etc/resolv.conf',
  '/etc/host.conf',
  '/etc/gai.conf',
  '/etc/services',
  '/etc/protocols',
] as const

/** Debian moved what a JDK cannot start without from its own directory to `/etc`. */
function javaSettings(): string[] {
  return readdirSync('/etc')
    .filter((name) => /^java-\d+-/.test(name))
    .map((name) => `/etc/${name}`)
}

function kindOf(path: string): 'link' | 'directory' | 'other' {
  try {
    const status = lstatSync(path)
    return status.isSymbolicLink() ? 'link' : status.isDirectory() ? 'directory' : 'other'
  } catch {
    return 'other'
  }
}

function resolvedFile(path: string): string | null {
  try {
    const target = realpathSync(path)
    accessSync(target, constants.R_OK)
    return statSync(target).isFile() ? target : null
  } catch {
    return null
  }
}

import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import type { IsolationPolicy } from '../isolation-policy.ts'

/** What every confined command sees of the system besides its root. */
export interface SystemMounts {
  /** Programs and libraries. */
  readonly programs: MountGroup
  /** What of `/etc` most programs other than the simplest need. */
  readonly etc: EtcEntries
}

/** Public settings; all are named by their path in `/etc`. */
export interface EtcEntries {
  readonly files: readonly string[]
  readonly links: readonly { readonly name: string; readonly target: string }[]
  readonly directories: readonly string[]
}

/** Places that are put into a command's view together. */
export interface MountGroup {
  readonly directories: readonly string[]
  readonly links: readonly { readonly name: string; readonly target: string }[]
  /** Directories that are visible then: nothing beneath them needs a mount of its own. */
  readonly visible: readonly string[]
}

/** Which settings a command's network needs: a proxy finds the addresses of names, so its users only need certificates. */
export type NetworkSettings = 'none' | 'proxy' | 'host'

export function settingsFor({ network, proxy }: IsolationPolicy): NetworkSettings {
  return proxy === undefined ? network : 'proxy'
}

/**
 * Reads which of the allow-listed places of the system exist here. They are programs, libraries and public settings;
 * nothing that holds a secret or a socket: not `/run`, `/var`, `/sys`, `/home`, nor the rest of `/etc`.
 */
export function systemMounts(network: NetworkSettings): SystemMounts {
  const top = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
  const programLinks = top.filter((name) => kindOf(name) === 'link')
  const programDirectories = [
    '/usr',
    ...[...top, ...programStores].filter((name) => kindOf(name) === 'directory'),
  ]
  const directories = [
    ...etcDirectories,
    ...(network === 'none' ? [] : certificateDirectories),
    ...javaConfiguration(),
  ].filter((name) => kindOf(name) === 'directory')
  const files: string[] = []
  const links: { name: string; target: string }[] = []
  for (const name of [...etcFiles, ...(network === 'host' ? resolverFiles : [])]) {
    const target = resolvedFile(name)
    if (target === null) continue
    // A link into /usr (time zone, os-release) can stay one.
    if (target !== name && target.startsWith('/usr/')) links.push({ name, target })
    else files.push(name)
  }
  return {
    programs: {
      directories: programDirectories,
      links: programLinks.map((name) => ({ name, target: readlinkSync(name) })),
      visible: [...programDirectories, ...programLinks],
    },
    etc: { files, links, directories },
  }
}

const known = new Map<string, SystemMounts>()

/** The same, looked up once for each user: another one may not be able to read all of it. */
export function knownSystemMounts(network: NetworkSettings): SystemMounts {
  const key = `${process.geteuid?.() ?? -1} ${network}`
  const mounts = known.get(key) ?? systemMounts(network)
  known.set(key, mounts)
  return mounts
}

// Systems that keep their programs elsewhere: content-addressed and world-readable by design.
const programStores = ['/nix/store', '/run/current-system/sw', '/gnu/store'] as const

// Debian's links from a command's common name (`awk`, `cc`, `java`) to the program.
const etcDirectories = ['/etc/alternatives'] as const

// Only with a network: the private halves sit beside them, so never all of /etc/ssl or /etc/pki.
const certificateDirectories = [
  '/etc/ssl/certs',
  '/etc/ca-certificates',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
] as const

const etcFiles = [
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
function javaConfiguration(): string[] {
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

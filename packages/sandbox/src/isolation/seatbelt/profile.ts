import type { IsolationPolicy } from '../isolation-policy.ts'

/** What a profile is made from. */
export interface SeatbeltProfileOptions {
  /** Absolute and canonical: the kernel compares resolved paths. */
  readonly rootDir: string
  readonly policy: IsolationPolicy
  /** The user's temporary directory, which macOS keeps apart for each user. */
  readonly temporary: string | undefined
}

/** A profile, and the values of its parameters, which `sandbox-exec -D` passes outside the profile's own syntax. */
export interface SeatbeltProfile {
  readonly profile: string
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * Returns the profile for `sandbox-exec`: everything is denied, then the system's programs, the readable paths and the
 * root are allowed. The profile's text contains no path, so none can add a rule. Not tested on macOS.
 *
 * Guarantees, as far as the kernel keeps the profile: writes under the root and the temporary directory alone, and not
 * to protected names nor, by renaming, to the directories above them; reads of the root, the system and `policy.read`
 * alone; no network with `network: 'none'`; no Apple events, so no other application does it instead.
 *
 * Does not protect against: names of files, which stay visible; shared memory between programs of the same user.
 */
export function seatbeltProfile(options: SeatbeltProfileOptions): SeatbeltProfile {
  const { rootDir, policy, temporary } = options
  const parameters: Record<string, string> = {}
  const parameter = (name: string, value: string): string => {
    parameters[name] = value
    return `(param "${name}")`
  }
  const below = (name: string): string => `${rootDir === '/' ? '' : rootDir}/${name}`

  const root = parameter('ROOT', rootDir)
  const writable = [root, ...(temporary === undefined ? [] : [parameter('TEMPORARY', temporary)])]
  if (policy.home !== undefined) writable.push(parameter('HOME', policy.home.whole))
  const readable = policy.read.map((path, index) => parameter(`READ_${index}`, path))
  const guarded = policy.protect.map((name, index) => parameter(`PROTECT_${index}`, below(name)))
  const hidden = policy.deny.map((name, index) => parameter(`DENY_${index}`, below(name)))
  const above = [...policy.protect, ...policy.deny].flatMap(ancestors)
  const pinned = [...new Set(above)].map((name, index) => parameter(`PIN_${index}`, below(name)))

  // The last rule that matches wins: allowances first, what they must not cover after them.
  return {
    parameters,
    profile: [
      '(version 1)',
      '(deny default)',
      '(allow process-exec process-fork process-info* signal (target same-sandbox))',
      '(allow sysctl-read)',
      '(allow pseudo-tty)',
      '(allow file-read-metadata)',
      allow(
        'mach-lookup',
        machServices.map((name) => `(global-name "${name}")`),
      ),
      allow('file-read*', ['(literal "/")', ...systemReads.map((path) => `(subpath "${path}")`)]),
      allow(
        'file-read* file-write-data file-ioctl',
        devices.map((path) => `(literal "${path}")`),
      ),
      allow('file-read*', subpaths(readable)),
      allow('file-read* file-write*', subpaths(writable)),
      deny('file-write*', subpaths(guarded)),
      deny(
        'file-write-unlink',
        pinned.map((value) => `(literal ${value})`),
      ),
      deny('file-read* file-write*', subpaths(hidden)),
      policy.network === 'host'
        ? '(allow network* system-socket)\n(allow mach-lookup (global-name "com.apple.dnssd.service"))'
        : '(deny network*)',
      '(deny appleevent-send)',
    ]
      .filter((line) => line !== '')
      .join('\n'),
  }
}

// What a command-line program looks up before main(): directory services for names of users, logging, notifications.
const machServices = [
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.bsd.dirhelper',
  'com.apple.SystemConfiguration.configd',
] as const

const systemReads = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library/Apple',
  '/Library/Developer',
  '/Library/Frameworks',
  '/Library/Java',
  '/Applications/Xcode.app',
  '/opt/homebrew',
  '/private/etc/hosts',
  '/private/etc/passwd',
  '/private/etc/group',
  '/private/etc/localtime',
  '/private/etc/ssl',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
  '/private/var/db/xcode_select_link',
] as const

const devices = [
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
  '/dev/ptmx',
  '/dev/dtracehelper',
] as const

function allow(operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(allow ${operations} ${filters.join(' ')})`
}

function deny(operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(deny ${operations} ${filters.join(' ')})`
}

function subpaths(values: readonly string[]): string[] {
  return values.map((value) => `(subpath ${value})`)
}

/** `a/b/c` lies in `a` and `a/b`. */
function ancestors(name: string): string[] {
  const components = name.split('/').slice(0, -1)
  return components.map((_, index) => components.slice(0, index + 1).join('/'))
}

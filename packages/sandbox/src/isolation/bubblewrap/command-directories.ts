import { existsSync } from 'node:fs'
import { normalize } from 'node:path'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { isWithinAny, outsideOf, overlapsAny, someWithin } from '../../path-rules/path-order.ts'
import type { HomeDirectories, IsolationPolicy } from '../isolation-policy.ts'
import type { SystemMounts } from './system-mounts.ts'

/** The directories of one command's view that do not belong to the system. */
export interface CommandDirectories {
  /** Empty ones of its own, in place of the host's: home and temporary directories. */
  readonly hidden: readonly HiddenDirectory[]
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Whether `/var/tmp` is the private `/tmp`. */
  readonly hasSecondTemporary: boolean
}

/** An empty directory of a command's own. */
export interface HiddenDirectory {
  readonly path: string
  readonly mode: number
  /** It lies in another one, so it needs no file system of its own. */
  readonly isNested: boolean
  /** What is kept from command to command in it; `null`: nothing. */
  readonly home: HomeDirectories | null
}

/** The part of a request that decides which directories a command sees. */
export interface DirectoryRequest {
  readonly rootDir: string
  readonly policy: IsolationPolicy
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the directories that a command sees besides the system and its root.
 *
 * @throws SandboxError `INVALID_INPUT` for a name in `files.read` that is not an absolute directory below `/`
 */
export function commandDirectories(
  request: DirectoryRequest,
  { system, toolchains }: { readonly system: SystemMounts; readonly toolchains: readonly string[] },
): CommandDirectories {
  const { rootDir, policy, env } = request
  // existsSync also leaves out what this user may not search: mounting it would fail.
  const wanted = [
    ...policy.read.map(absoluteDirectory).filter((path) => existsSync(path)),
    ...toolchains,
  ]
  const visible = visibleDirectories(policy, system)
  const readable = outsideOf([...new Set(wanted)], [rootDir, ...visible])
  if (policy.access === 'read') {
    return { hidden: [], readable, writable: [], hasSecondTemporary: false }
  }
  const hidden = outsideOf(privateDirectories(env), [rootDir]).filter(
    (path) => !readable.includes(path) && !isReserved(path, system),
  )
  const home = withoutTrailingSlash(env['HOME'] ?? '/')
  const mounted = [rootDir, ...policy.read, env['HOME'] ?? '', env['TMPDIR'] ?? '']
  return {
    hidden: hidden.map((path) => ({
      path,
      mode: path === '/tmp' ? 0o1777 : 0o700,
      // A home below /tmp is a directory of that file system already.
      isNested: isWithinAny(
        path,
        hidden.filter((other) => other !== path),
      ),
      home: path === home ? (policy.home ?? null) : null,
    })),
    readable,
    writable: outsideOf(policy.write ?? [], [rootDir]),
    // Unless something is mounted beneath it, which must keep its own path.
    hasSecondTemporary: !someWithin(mounted, '/var/tmp'),
  }
}

/** What a command of this kind sees of the system without a mount of its own. */
export function visibleDirectories(
  { access }: IsolationPolicy,
  { programs, etc }: SystemMounts,
): readonly string[] {
  return access === 'read'
    ? programs.visible
    : [...programs.visible, ...etc.directories, '/proc', '/dev']
}

function privateDirectories(env: Readonly<Record<string, string>>): string[] {
  const wanted = ['/tmp', env['HOME'] ?? '/tmp', env['TMPDIR'] ?? '/tmp']
  return [...new Set(wanted.filter((path) => path.startsWith('/')).map(withoutTrailingSlash))]
}

/** A HOME of `/` or `/usr` must not hide the system. */
function isReserved(path: string, { programs }: SystemMounts): boolean {
  return overlapsAny(path, [...programs.visible, '/proc', '/dev', '/etc'])
}

/**
 * A directory of `files.read`, normalised.
 *
 * @throws SandboxError `INVALID_INPUT` for a name that is not an absolute directory below `/`
 */
export function absoluteDirectory(path: string): string {
  const normal = withoutTrailingSlash(path)
  if (!normal.startsWith('/') || normal === '/') {
    throw new SandboxError(
      'INVALID_INPUT',
      `files.read contains ${JSON.stringify(path)}. Name absolute directories below "/": the whole disk holds every secret and every service's socket.`,
      { details: { option: 'files.read', value: path }, effect: 'none' },
    )
  }
  return normal
}

function withoutTrailingSlash(path: string): string {
  const normal = normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

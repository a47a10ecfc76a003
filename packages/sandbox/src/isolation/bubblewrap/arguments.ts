import { constants, openSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { forwarderMounts } from './forwarder.ts'
import { sharedAnonymousFile } from './handed-descriptors.ts'
import { closeDescriptors } from '../spawn/child-descriptors.ts'
import type { WrapRequest } from '../spawn/wrapped-command.ts'
import { type PathHandle, type HiddenPath, openPathHandles } from '../../path-rules/path-handles.ts'
import { isWithin, parentsFirst } from '../../path-rules/path-order.ts'
import {
  type CommandDirectories,
  commandDirectories,
  type HiddenDirectory,
} from './command-directories.ts'
import { keptDirectories } from './kept-home.ts'
import type { EtcEntries, MountGroup, SystemMounts } from './system-mounts.ts'

/** What {@link bubblewrapArguments} needs to know besides the command. */
export interface BubblewrapFacts {
  readonly system: SystemMounts
  /** A directory to show as `/etc`; `null`: each setting is put there by itself. */
  readonly etcSnapshot: string | null
  /** Directories of the user's tools outside the system, to mount read-only. */
  readonly toolchains: readonly string[]
  readonly systemCallFilter: Uint8Array
  /** This `bwrap` mounts open descriptors and checks what it mounted. */
  readonly mountsDescriptors: boolean
}

/** Options of `bwrap`, and the descriptors that they name, to be handed over from 4 on. */
export interface BubblewrapArguments {
  readonly options: readonly string[]
  readonly descriptors: readonly number[]
}

/** The child's number of the first descriptor; the one before carries the options themselves. */
const firstDescriptor = 4

/**
 * Returns the complete options for one command: an allow-list of mounts in an otherwise empty tree, every namespace,
 * no capability, the filter, and exactly the wanted environment.
 *
 * Guarantees: nothing is created in the root; nothing outside it is mounted, even while another process swaps names for
 * links; what is mounted over a protected name is the very file that was there when this was called.
 * Does not protect against: a socket inside the root, or in a readable directory, on which a process outside listens.
 */
export function bubblewrapArguments(
  request: WrapRequest,
  facts: BubblewrapFacts,
): BubblewrapArguments {
  const descriptors: number[] = []
  const pass = (descriptor: number): string =>
    String(descriptors.push(descriptor) - 1 + firstDescriptor)
  try {
    const directories = commandDirectories(request, facts)
    const options = [
      ...namespaces(request.policy.network),
      ...programMounts(facts.system.programs),
      ...(isReading(request) ? [] : surroundings(request, facts, directories, pass)),
      ...directoryMounts(request, facts, directories, pass),
      ...pathRuleMounts(request, facts.mountsDescriptors, pass),
      ...forwarderMounts(request.policy.proxy, pass),
      // The tree that holds the mount points: what is not a mount of its own cannot be written.
      '--remount-ro',
      '/',
      '--seccomp',
      pass(sharedAnonymousFile(facts.systemCallFilter)),
      '--chdir',
      request.cwd,
      ...Object.entries(request.env).flatMap(([name, value]) => ['--setenv', name, value]),
    ]
    refuseNul(options)
    return { options, descriptors }
  } catch (error) {
    closeDescriptors(descriptors)
    throw error
  }
}

function isReading({ policy }: WrapRequest): boolean {
  return policy.access === 'read'
}

/** What programs expect around them; each mount here costs every command some 50 microseconds. */
function surroundings(
  request: WrapRequest,
  { system, etcSnapshot }: BubblewrapFacts,
  { hasSecondTemporary }: CommandDirectories,
  pass: (descriptor: number) => string,
): string[] {
  return [
    ...(etcSnapshot === null ? etcMounts(system.etc, pass) : ['--ro-bind', etcSnapshot, '/etc']),
    ...kernelMounts(request.policy),
    ...(hasSecondTemporary
      ? ['--perms', '0755', '--dir', '/var', '--symlink', '../tmp', '/var/tmp']
      : []),
  ]
}

function programMounts({ directories, links }: MountGroup): string[] {
  return [
    ...directories.flatMap((name) => ['--ro-bind', name, name]),
    ...links.flatMap(({ name, target }) => ['--symlink', target, name]),
  ]
}

function etcMounts(
  { files, links, directories }: EtcEntries,
  pass: (descriptor: number) => string,
): string[] {
  return [
    '--perms',
    '0755',
    '--dir',
    '/etc',
    ...directories.flatMap((name) => ['--ro-bind', name, name]),
    ...links.flatMap(({ name, target }) => ['--symlink', target, name]),
    ...files.flatMap((name) => ['--perms', '0444', '--file', pass(openSync(name, 'r')), name]),
  ]
}

/** Options travel with NUL between them: one inside a value would begin an option of its own, a mount of `/` say. */
function refuseNul(options: readonly string[]): void {
  const index = options.findIndex((option) => option.includes('\0'))
  if (index === -1) return
  throw new SandboxError(
    'INVALID_INPUT',
    `A NUL character is in the working directory, a path or the environment, near ${JSON.stringify(options[index - 1])}. Remove it.`,
    { effect: 'none' },
  )
}

function namespaces(network: 'none' | 'host'): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    ...(network === 'none' ? ['--unshare-net'] : []),
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--clearenv',
  ]
}

/**
 * The whole of `/proc` read-only: kernel settings belong to the machine's root, which uid 0 inside still is, and some of
 * `/proc/sys` to the owner of the namespace. One mount, where covering each directory takes two.
 */
function kernelMounts({ limits }: WrapRequest['policy']): string[] {
  const kernel = ['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev']
  // The file system of `/dev` has no size: shared memory gets one with a size, and all else stays as it is.
  const shared = ['--perms', '1777', ...sized(limits.temporaryMb), '/dev/shm']
  return [...kernel, ...shared, '--remount-ro', '/dev']
}

function sized(mebibytes: number): string[] {
  return ['--size', String(mebibytes * 1024 * 1024), '--tmpfs']
}

/** Private directories, what may be read, and the root; each after the directories that contain it. */
function directoryMounts(
  request: WrapRequest,
  facts: BubblewrapFacts,
  directories: CommandDirectories,
  pass: (descriptor: number) => string,
): string[] {
  const { hidden, readable, writable } = directories
  const mounts: (readonly [path: string, options: readonly string[]])[] = [
    ...hidden.map((each) => [each.path, emptyDirectory(each, request.policy)] as const),
    ...keptDirectories(directories, request.rootDir).map(
      ({ path, source }) => [path, ['--bind', source, path]] as const,
    ),
    ...readable.map((path) => [path, ['--ro-bind-try', path, path]] as const),
    ...writable.map((path) => [path, ['--bind', path, path]] as const),
    ...(isReading(request) ? [] : (request.policy.shown ?? [])).map(
      ({ path, source }) => [path, ['--ro-bind-try', source, path]] as const,
    ),
    [request.rootDir, rootMount(request, facts, pass)],
  ]
  return parentsFirst(mounts, ([path]) => path).flatMap(([, options]) => options)
}

/** By descriptor where `bwrap` can: the directory that was opened, whatever its name leads to by now. */
function rootMount(
  request: WrapRequest,
  { mountsDescriptors }: BubblewrapFacts,
  pass: (descriptor: number) => string,
): string[] {
  const { rootDir, rootDescriptor } = request
  const how = isReading(request) ? '--ro-bind' : '--bind'
  if (!mountsDescriptors || rootDescriptor === undefined) return [how, rootDir, rootDir]
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)
  const descriptor = openSync(`/proc/self/fd/${rootDescriptor}`, flags)
  return [`${how}-fd`, pass(descriptor), rootDir]
}

function emptyDirectory(
  { path, mode, isNested }: HiddenDirectory,
  { limits }: WrapRequest['policy'],
): string[] {
  const permissions = ['--perms', mode.toString(8).padStart(4, '0')]
  return [...permissions, ...(isNested ? ['--dir'] : sized(limits.temporaryMb)), path]
}

/**
 * Mounts over names inside the root. A directory above a protected name becomes a mount point itself: the kernel
 * refuses to rename or remove those, so the name cannot be carried away together with its directory.
 *
 * A `bwrap` that only mounts by path follows a link that a command still running has just put there, to anywhere
 * outside (seen in 4 % of starts). With such a one nothing of the root is mounted: protected names are then watched only.
 */
function pathRuleMounts(
  { rootDir, rootDescriptor, policy }: WrapRequest,
  mountsDescriptors: boolean,
  pass: (descriptor: number) => string,
): string[] {
  const protectedNames = mountsDescriptors ? policy.protect : []
  if (protectedNames.length + policy.deny.length === 0) return []
  const handles = openPathHandles(
    rootDescriptor === undefined ? rootDir : `/proc/self/fd/${rootDescriptor}`,
    { protect: protectedNames, deny: policy.deny },
  )
  const mountPoint = ({ name }: HiddenPath): string => `${rootDir === '/' ? '' : rootDir}/${name}`
  const bind = (name: PathHandle, how: '--bind-fd' | '--ro-bind-fd'): string[] => {
    if (mountsDescriptors) return [how, pass(name.descriptor), mountPoint(name)]
    // Never handed over unused: a descriptor of the real tree inside the sandbox is a way out of it.
    closeDescriptors([name.descriptor])
    return []
  }
  // What lies in a hidden directory is hidden with it.
  const isHidden = ({ name }: HiddenPath): boolean =>
    handles.deny.some((denied) => denied.name !== name && isWithin(name, denied.name))
  return [
    ...handles.ancestors.flatMap((name) => bind(name, '--bind-fd')),
    ...handles.protect.flatMap((name) => {
      if (!isHidden(name)) return bind(name, '--ro-bind-fd')
      closeDescriptors([name.descriptor])
      return []
    }),
    ...handles.deny.flatMap((name) => (isHidden(name) ? [] : hide(mountPoint(name), name.kind))),
  ]
}

function hide(path: string, kind: HiddenPath['kind']): string[] {
  return kind === 'directory'
    ? ['--perms', '0000', '--tmpfs', path, '--remount-ro', path]
    : // A device on a mount that allows no devices: opening it says "Permission denied", to root too.
      ['--ro-bind', '/dev/null', path]
}

import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs'
import { connectorPath } from '../../egress/environment.ts'
import { insideOf, isWithin } from '../../path-rules/path-order.ts'
import { openPathHandles } from '../../path-rules/path-handles.ts'
import type { CommandDirectories } from '../bubblewrap/command-directories.ts'
import { keptDirectories, wholeHome } from '../bubblewrap/kept-home.ts'
import type { EtcEntries, SystemMounts } from '../bubblewrap/system-mounts.ts'
import type { StartRequest } from '../running-command.ts'
import * as mount from './mount-step.ts'
import type { Identity, MountStep } from './mount-step.ts'

/** What {@link templateMounts} and {@link commandMounts} need to know besides the request. */
export interface NamespaceFacts {
  readonly system: SystemMounts
  /** A directory to show as `/etc`; `null`: each setting is put there by itself. */
  readonly etcSnapshot: string | null
  readonly directories: CommandDirectories
  /** The program by which commands connect to the proxy; `null`: they have none. */
  readonly connector: string | null
}

/** What every command finds that may have more than its root. */
const deviceMounts: readonly MountStep[] = [
  // A visible one is the kernel's condition for mounting another.
  mount.readOnlyPlace('/proc'),
  ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) =>
    mount.device(`/dev/${name}`),
  ),
  mount.directory('/dev/pts'),
  mount.directory('/dev/shm'),
  mount.link('/dev/ptmx', 'pts/ptmx'),
  mount.link('/dev/fd', '/proc/self/fd'),
  mount.link('/dev/core', '/proc/kcore'),
  ...['stdin', 'stdout', 'stderr'].map((name, number) =>
    mount.link(`/dev/${name}`, `/proc/self/fd/${number}`),
  ),
]

/**
 * Returns what all commands of a policy see: an allow-list of the system in an otherwise empty tree, and the root. What
 * each command has of its own is mounted above it.
 */
export function templateMounts(request: StartRequest, facts: NamespaceFacts): MountStep[] {
  const { programs } = facts.system
  const isReading = request.policy.access === 'read'
  const hidesFiles = request.policy.deny.length > 0
  return [
    ...mount.readOnlyPlaces(programs.directories),
    ...mount.links(programs.links),
    ...(isReading ? (hidesFiles ? [mount.device('/dev/null')] : []) : surroundings(facts)),
    ...mount.inMountOrder([
      ...facts.directories.hidden.map(({ path }) => mount.directory(path)),
      ...mount.optionalPlaces(facts.directories.readable),
      ...mount.writablePlaces(facts.directories.writable),
      ...homePlaces(request, facts),
      rootPlace(request, isReading),
    ]),
    ...(isReading ? [] : (request.policy.shown ?? [])).map(({ path, source }) =>
      mount.optionalPlace(path, source),
    ),
    ...(facts.connector === null ? [] : [mount.optionalPlace(connectorPath, facts.connector)]),
    mount.seal('/'),
  ]
}

function surroundings({ system, etcSnapshot, directories }: NamespaceFacts): MountStep[] {
  return [
    ...(etcSnapshot === null ? etcMounts(system.etc) : [mount.readOnlyPlace('/etc', etcSnapshot)]),
    ...deviceMounts,
    ...(directories.hasSecondTemporary
      ? [mount.directory('/var'), mount.link('/var/tmp', '../tmp')]
      : []),
  ]
}

function etcMounts({ files, links, directories }: EtcEntries): MountStep[] {
  return [
    mount.directory('/etc'),
    ...mount.readOnlyPlaces(directories),
    ...files.map((name) => mount.optionalPlace(name, realpathSync(name))),
    ...mount.links(links),
  ]
}

/** What is kept of the home at its own path, from which each command mounts it. */
function homePlaces(request: StartRequest, facts: NamespaceFacts): MountStep[] {
  return homeMounts(request, facts).map(({ from }) => mount.place(from))
}

function rootPlace(request: StartRequest, isReading: boolean): MountStep {
  const { rootDir, rootDescriptor } = request
  const identity =
    rootDescriptor === undefined
      ? identityOfStatus(statSync(rootDir, { bigint: true }))
      : identityOfStatus(fstatSync(rootDescriptor, { bigint: true }))
  const root = isReading ? mount.readOnlyPlace(rootDir) : mount.place(rootDir)
  return { ...root, identity }
}

/** Returns what one command has of its own, and the rules for names in the root. */
export function commandMounts(request: StartRequest, facts: NamespaceFacts): MountStep[] {
  if (request.policy.access === 'read') return pathRules(request)
  const { temporaryMb } = request.policy.limits
  const { hidden, readable, writable } = facts.directories
  const homes = homeMounts(request, facts)
  const covered = [
    ...hidden.filter(({ isNested }) => !isNested).map(({ path }) => path),
    ...homes.map(({ to }) => to),
  ]
  return [
    mount.processes('/proc'),
    mount.terminals('/dev/pts'),
    mount.memory('/dev/shm', 0o1777, temporaryMb),
    ...mount.inMountOrder([
      ...hidden
        .filter(({ path }) => !homes.some(({ to }) => to === path))
        .map(({ path, mode, isNested }) =>
          isNested ? mount.directory(path, mode) : mount.memory(path, mode, temporaryMb),
        ),
      ...homes,
      // Above what hides it, and as the template has it.
      ...mount.optionalPlaces(insideOf(readable, covered)),
      ...mount.writablePlaces(insideOf([...writable, request.rootDir], covered)),
    ]),
    ...pathRules(request),
  ]
}

/** The home that commands share; or, in one of the command's own, what is kept of it. */
function homeMounts({ rootDir }: StartRequest, { directories }: NamespaceFacts): MountStep[] {
  const wholes = directories.hidden.flatMap((each) => {
    const source = wholeHome(each, directories, rootDir)
    return source === null ? [] : [mount.place(each.path, source)]
  })
  if (wholes.length > 0) return wholes
  return keptDirectories(directories, rootDir).map(({ path, source }) => mount.place(path, source))
}

function pathRules({ rootDir, rootDescriptor, policy }: StartRequest): MountStep[] {
  const { protect, deny } = policy
  if (protect.length + deny.length === 0) return []
  const handles = openPathHandles(
    rootDescriptor === undefined ? rootDir : `/proc/self/fd/${rootDescriptor}`,
    { protect, deny },
  )
  const pathOf = (name: string): string => `${rootDir === '/' ? '' : rootDir}/${name}`
  // What lies in a hidden directory is hidden with it.
  const isHidden = (name: string): boolean =>
    handles.deny.some((denied) => denied.name !== name && isWithin(name, denied.name))
  try {
    return [
      ...handles.ancestors.map(({ name }) => mount.pin(pathOf(name))),
      ...handles.protect
        .filter(({ name }) => !isHidden(name))
        .map(({ name, descriptor }) =>
          mount.protect(pathOf(name), identityOfStatus(fstatSync(descriptor, { bigint: true }))),
        ),
      ...handles.deny
        .filter(({ name }) => !isHidden(name))
        .map(({ name }) => mount.hide(pathOf(name))),
    ]
  } finally {
    for (const { descriptor } of [...handles.ancestors, ...handles.protect]) closeSync(descriptor)
  }
}

/** As the helper compares it. */
export function identityOfStatus({
  dev,
  ino,
}: {
  readonly dev: bigint
  readonly ino: bigint
}): Identity {
  return { device: dev, inode: ino }
}

import { realpathSync, statSync } from 'node:fs'
import { knownSystemMounts } from '../bubblewrap/system-mounts.ts'
import { isWithin } from '../../path-rules/path-order.ts'
import type { CommandAccess } from '../isolation-policy.ts'
import type { PolicyRule } from './frames.ts'

const bit = (number: number): bigint => 1n << BigInt(number)

/** Rights about files, by the number that the kernel gives them. */
const right = {
  execute: bit(0),
  writeFile: bit(1),
  readFile: bit(2),
  readDirectory: bit(3),
  makeCharacterDevice: bit(6),
  makeBlockDevice: bit(11),
  refer: bit(13),
  truncate: bit(14),
  deviceRequest: bit(15),
  resolveUnix: bit(16),
} as const

/** The newest version that this package knows; a newer kernel is treated as this one. */
export const newestVersion = 9

/** Everything that a version of Landlock can refuse: what is not granted somewhere is refused. */
export function handledRights(version: number): { files: bigint; network: bigint; scopes: bigint } {
  const files =
    (bit(13) - 1n) |
    (version >= 2 ? right.refer : 0n) |
    (version >= 3 ? right.truncate : 0n) |
    (version >= 5 ? right.deviceRequest : 0n) |
    (version >= 9 ? right.resolveUnix : 0n)
  return {
    files,
    // Binding and connecting of TCP.
    network: version >= 4 ? 3n : 0n,
    // Abstract unix sockets, and signals.
    scopes: version >= 6 ? 3n : 0n,
  }
}

const reading = right.execute | right.readFile | right.readDirectory
const changing =
  ((1n << 17n) - 1n) & ~(right.makeCharacterDevice | right.makeBlockDevice | right.deviceRequest)

/** Everything outside the root that commands may use, with the rights to it. */
export interface Surroundings {
  /** A path that names the root that was opened, such as `/proc/PID/fd/N`. @default its name */
  readonly rootHandle?: string
  readonly access: CommandAccess
  readonly network: 'none' | 'host'
  /** `files.read` and the directories of the user's tools. */
  readonly read: readonly string[]
  /** Directories that commands may change besides the root. */
  readonly write?: readonly string[]
  /** Where commands have their home and temporary files; `null` for a command that only reads. */
  readonly privateDirectory: string | null
}

const harmlessDevices = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
] as const

/**
 * Returns the rules for a root and its surroundings: real names, so that a link which appears later leads nowhere. What
 * lies within the root gets the root's rights alone.
 */
export function landlockRules(rootDir: string, around: Surroundings): PolicyRule[] {
  const { access, network, read, write = [], privateDirectory, rootHandle = rootDir } = around
  const { programs, etc } = knownSystemMounts(network)
  const isReading = access === 'read'
  const outside = [
    ...[...programs.visible, ...read].map((path) => ({ path, rights: reading })),
    ...(isReading
      ? []
      : [
          // Certificates are public, and programs that are configured to use them (npm's "cafile") end if they are there and
          // cannot be read.
          ...knownSystemMounts('host').etc.directories.map((path) => ({ path, rights: reading })),
          ...[...etc.files, ...etc.links.map(({ name }) => name)].map((path) => ({
            path,
            rights: right.readFile,
          })),
          ...harmlessDevices.map((path) => ({
            path,
            rights: right.readFile | right.writeFile | right.deviceRequest,
          })),
          { path: '/proc', rights: right.readFile | right.readDirectory },
        ]),
  ]
  const rules = outside.flatMap(({ path, rights }): PolicyRule[] => {
    const real = realName(path)
    if (real === null || isWithin(real, rootDir)) return []
    return [{ path: real, rights, isRoot: false }]
  })
  return [
    { path: rootHandle, rights: isReading ? reading : changing, isRoot: !isReading },
    ...(privateDirectory === null
      ? []
      : [{ path: privateDirectory, rights: changing, isRoot: true }]),
    ...(isReading ? [] : write.map((path) => ({ path, rights: changing, isRoot: true }))),
    ...rules,
  ]
}

/** What the rules depend on: a file that is replaced is another one, which the old rule does not name. */
export function keyOfFiles(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const status = statSync(path, { throwIfNoEntry: false, bigint: true })
      return `${path}\0${status?.dev}:${status?.ino}`
    })
    .join('\0')
}

function realName(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

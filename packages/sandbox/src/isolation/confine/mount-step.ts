import { parentsFirst } from '../../path-rules/path-order.ts'

/** Which file a name meant when it was looked at; the helper compares it with what it finds. */
export interface Identity {
  readonly device: bigint
  readonly inode: bigint
}

/** One step in the making of the file system that a command sees. */
export interface MountStep {
  readonly kind: number
  /** Permissions, or how a place is mounted. */
  readonly mode: number
  /** In bytes. */
  readonly size: bigint
  readonly identity: Identity
  readonly from: string
  /** Absolute. */
  readonly to: string
}

/** As the program numbers them. */
const kinds = {
  directory: 1,
  link: 2,
  memory: 3,
  place: 4,
  processes: 5,
  terminals: 6,
  pin: 7,
  protect: 8,
  hide: 9,
  seal: 10,
} as const

/** How a place is mounted. */
const flags = { readOnly: 1, device: 2, optional: 4 } as const

/** Whatever the name means when the helper looks. */
export const anyFile: Identity = { device: 0n, inode: 0n }

function step(kind: keyof typeof kinds, to: string, rest: Partial<MountStep> = {}): MountStep {
  return { kind: kinds[kind], mode: 0, size: 0n, identity: anyFile, from: '', to, ...rest }
}

/** An empty directory, unless there is one. */
export const directory = (to: string, mode = 0o755): MountStep => step('directory', to, { mode })

export const link = (to: string, target: string): MountStep => step('link', to, { from: target })

/** A new file system in memory. */
export const memory = (to: string, mode: number, mebibytes: number): MountStep =>
  step('memory', to, { mode, size: BigInt(mebibytes) * 1024n * 1024n })

/** Something of the tree as it was before the first step. */
export const place = (to: string, from: string = to, identity: Identity = anyFile): MountStep =>
  step('place', to, { from, identity })

export const readOnlyPlace = (to: string, from: string = to): MountStep =>
  step('place', to, { from, mode: flags.readOnly })

/** Left out where it does not exist or may not be entered. */
export const optionalPlace = (to: string, from: string = to): MountStep =>
  step('place', to, { from, mode: flags.readOnly | flags.optional })

export const device = (to: string): MountStep =>
  step('place', to, { from: to, mode: flags.device | flags.optional })

export const readOnlyPlaces = (paths: readonly string[]): MountStep[] =>
  paths.map((path) => readOnlyPlace(path))

export const optionalPlaces = (paths: readonly string[]): MountStep[] =>
  paths.map((path) => optionalPlace(path))

export const writablePlaces = (paths: readonly string[]): MountStep[] =>
  paths.map((path) => place(path))

export const links = (
  entries: readonly { readonly name: string; readonly target: string }[],
): MountStep[] => entries.map(({ name, target }) => link(name, target))

/** The `/proc` of the command's own processes. */
export const processes = (to: string): MountStep => step('processes', to)

export const terminals = (to: string): MountStep => step('terminals', to)

/** Keeps a directory from being renamed. */
export const pin = (to: string): MountStep => step('pin', to)

/** Keeps a name, and the very file that it names, from being changed. */
export const protect = (to: string, identity: Identity): MountStep =>
  step('protect', to, { identity })

/** Keeps a name from being read. */
export const hide = (to: string): MountStep => step('hide', to)

/** Keeps names from being made in what is not a mount of its own. */
export const seal = (to: string): MountStep => step('seal', to)

/** The steps, each directory before what lies in it. */
export function inMountOrder(steps: readonly MountStep[]): MountStep[] {
  return parentsFirst(steps, ({ to }) => to)
}

/** Equal for steps that do the same. */
export function keyOfSteps(steps: readonly MountStep[]): string {
  return steps
    .map(({ kind, mode, size, identity, from, to }) =>
      [kind, mode, size, identity.device, identity.inode, from, to].join('\0'),
    )
    .join('\n')
}

import { randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** What a control group is to limit; `null` is "not limited". */
export interface ControlGroupLimits {
  readonly memoryMb: number | null
  readonly processes: number | null
}

/** A control group made for one command. */
export interface ControlGroup {
  /** What the command enters before it runs: one for each hierarchy. */
  readonly directories: readonly string[]
  /** True when the kernel ended a process of the group for its memory. */
  ranOutOfMemory(): boolean
  /** Removes the group. Call it when its processes are gone. */
  remove(): Promise<void>
}

/** A hierarchy in which we may make groups, and the files of its limits. */
interface Hierarchy {
  readonly parent: string
  readonly files: (limits: ControlGroupLimits) => Readonly<Record<string, string>>
  /** The file that counts processes killed for memory. */
  readonly events: string | undefined
}

/** Whether this process may make control groups with both limits: decided once, by trying. */
export function hasControlGroups(): boolean {
  return hierarchies().length > 0
}

/** Whether a command with these limits gets a group of its own. */
export function usesControlGroup({ memoryMb, processes }: ControlGroupLimits): boolean {
  return (memoryMb !== null || processes !== null) && hasControlGroups()
}

/** Makes a group with the limits. Only where {@link hasControlGroups}. */
export function createControlGroup(limits: ControlGroupLimits): ControlGroup {
  const name = `sandbox-${process.pid}-${randomUUID()}`
  const groups = hierarchies().map((hierarchy) => {
    const directory = join(hierarchy.parent, name)
    mkdirSync(directory)
    for (const [file, value] of Object.entries(hierarchy.files(limits))) {
      try {
        writeFileSync(join(directory, file), value)
      } catch (error) {
        // Accounting of swap is a choice of the kernel's configuration; the other limits must hold.
        if (!file.includes('swap') && !file.includes('memsw')) throw error
      }
    }
    return { directory, events: hierarchy.events }
  })
  return {
    directories: groups.map(({ directory }) => directory),
    ranOutOfMemory: () =>
      groups.some(
        ({ directory, events }) =>
          events !== undefined &&
          /^oom_kill [1-9]/m.test(readFileSync(join(directory, events), 'latin1')),
      ),
    async remove() {
      for (const { directory } of groups) await removeGroup(directory)
    },
  }
}

async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      rmdirSync(directory)
      return
    } catch {
      // Busy for as long as the kernel takes to bury the last process.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

let found: readonly Hierarchy[] | undefined

function hierarchies(): readonly Hierarchy[] {
  found ??= unifiedHierarchy() ?? separateHierarchies() ?? []
  return found
}

/** Version 2: one tree. Its controllers must have been given to the children of our own group. */
function unifiedHierarchy(): Hierarchy[] | null {
  const own = ownGroup(/^0::(.*)$/m)
  if (own === undefined) return null
  const parent = join('/sys/fs/cgroup', own)
  const enabled = readOrEmpty(join(parent, 'cgroup.subtree_control')).split(/\s+/)
  if (!enabled.includes('memory') || !enabled.includes('pids') || !canMakeGroups(parent))
    return null
  return [
    {
      parent,
      files: ({ memoryMb, processes }) => ({
        ...(memoryMb === null
          ? {}
          : {
              'memory.max': String(memoryMb * mebibyte),
              'memory.swap.max': '0',
              'memory.oom.group': '1',
            }),
        ...(processes === null ? {} : { 'pids.max': String(processes) }),
      }),
      events: 'memory.events',
    },
  ]
}

/** Version 1: a tree for each controller. */
function separateHierarchies(): Hierarchy[] | null {
  const memory = ownGroup(/^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m)
  const pids = ownGroup(/^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(.*)$/m)
  if (memory === undefined || pids === undefined) return null
  const memoryParent = join('/sys/fs/cgroup/memory', memory)
  const pidsParent = join('/sys/fs/cgroup/pids', pids)
  if (!canMakeGroups(memoryParent) || !canMakeGroups(pidsParent)) return null
  return [
    {
      parent: memoryParent,
      files: ({ memoryMb }) =>
        memoryMb === null
          ? {}
          : {
              'memory.limit_in_bytes': String(memoryMb * mebibyte),
              'memory.memsw.limit_in_bytes': String(memoryMb * mebibyte),
            },
      events: 'memory.oom_control',
    },
    {
      parent: pidsParent,
      files: ({ processes }) => (processes === null ? {} : { 'pids.max': String(processes) }),
      events: undefined,
    },
  ]
}

const mebibyte = 1024 * 1024

function ownGroup(line: RegExp): string | undefined {
  return line.exec(readOrEmpty('/proc/self/cgroup'))?.[1]
}

function canMakeGroups(parent: string): boolean {
  if (!existsSync(join(parent, 'cgroup.procs'))) return false
  const trial = join(parent, `sandbox-${process.pid}-trial`)
  try {
    accessSync(parent, constants.W_OK)
    mkdirSync(trial)
    rmdirSync(trial)
    return true
  } catch {
    return false
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

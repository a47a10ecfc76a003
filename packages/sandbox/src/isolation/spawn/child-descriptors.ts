import { existsSync, openSync, readdirSync, readFileSync, closeSync } from 'node:fs'

/**
 * The tail of a `stdio` array, from descriptor 3 on: the wanted descriptors first, then `/dev/null` in the place of
 * every descriptor that this process would otherwise pass on.
 *
 * Node opens its own descriptors with close-on-exec; those it inherited (from a shell, a supervisor, a debugger) have no
 * such flag and reach every child: a log file, a lock, the other end of a secret's pipe. `'ignore'` does not help: from
 * descriptor 3 on it leaves the child's slot as it is.
 *
 * *Guarantees* on Linux: the child sees descriptors 0 to 2, `wanted`, and `/dev/null`.
 * *Does not protect against* a descriptor number that was seen with close-on-exec and was reused by native code
 * without it since.
 */
export function descriptorSlots(wanted: readonly number[]): (number | 'ignore')[] {
  const slots: (number | 'ignore')[] = [...wanted]
  for (const descriptor of inheritable(new Set(wanted))) {
    const index = descriptor - 3
    if (index < wanted.length) continue
    while (slots.length < index) slots.push('ignore')
    slots[index] = devNull()
  }
  return slots
}

// Octal, as fdinfo prints it; the same on every Linux architecture.
const closeOnExec = 0o2_000_000

// Reading the flags of every descriptor for every spawn costs as much as a sixth of the spawn.
let known: ReadonlyMap<number, boolean> = new Map()

/** All but `own`, which were opened here a moment ago, with the flag. */
function inheritable(own: ReadonlySet<number>): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc/self/fd')
  } catch {
    // Not Linux, or no /proc. libuv itself sets the flag on the descriptors that Node inherits next to 0 to 2.
    return []
  }
  const seen = new Map<number, boolean>()
  for (const name of names) {
    const descriptor = Number(name)
    if (descriptor < 3 || own.has(descriptor)) continue
    const passedOn = known.get(descriptor) ?? survivesExec(descriptor)
    if (passedOn !== undefined) seen.set(descriptor, passedOn)
  }
  known = seen
  return [...seen].filter(([, passedOn]) => passedOn).map(([descriptor]) => descriptor)
}

function survivesExec(descriptor: number): boolean | undefined {
  const path = `/proc/self/fdinfo/${descriptor}`
  // The descriptor of the directory listing itself, closed since.
  if (!existsSync(path)) return undefined
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(path, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // Closed since.
    return undefined
  }
}

let devNullDescriptor: number | undefined

function devNull(): number {
  devNullDescriptor ??= openSync('/dev/null', 'r+')
  return devNullDescriptor
}

/** Closes descriptors that were opened for a child, once it has its copies or was never spawned. */
export function closeDescriptors(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor)
}

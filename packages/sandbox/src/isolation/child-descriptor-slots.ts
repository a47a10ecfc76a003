import { closeSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the tail of a `stdio` array, from descriptor 3 on: the wanted descriptors first, then `'ignore'` for every
 * descriptor that this process would otherwise pass on.
 *
 * Node opens its own descriptors with close-on-exec; the ones it inherited (from a shell, a supervisor, a debugger) have
 * no such flag and reach every child: a log file, a lock, the other end of a secret's pipe. `'ignore'` puts `/dev/null`
 * in their place.
 *
 * Guarantees on Linux: the child sees descriptors 0 to 2, `wanted`, and `/dev/null`.
 * Does not protect against: a descriptor that another thread opens without close-on-exec between this call and the spawn.
 */
export function childDescriptorSlots(wanted: readonly number[]): (number | 'ignore')[] {
  const slots: (number | 'ignore')[] = [...wanted]
  const last = Math.max(2, ...inheritedDescriptors())
  while (slots.length + 3 <= last) slots.push('ignore')
  return slots
}

// Octal, as fdinfo prints it; the same on every Linux architecture.
const closeOnExec = 0o2_000_000

function inheritedDescriptors(): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc/self/fd')
  } catch {
    // No /proc: not Linux, or a bare container. A generous guess costs a few /dev/null descriptors.
    return [19]
  }
  return names.map(Number).filter((descriptor) => descriptor > 2 && survivesExec(descriptor))
}

function survivesExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(
      readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'),
    )?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The descriptor of the directory listing itself, closed since.
    return false
  }
}

/** Closes descriptors that were opened for a child, once it has its copies or was never spawned. */
export function closeDescriptors(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor)
}

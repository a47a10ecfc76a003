import { readdirSync, readFileSync } from 'node:fs'

/** Returns the living processes below `ancestor`, by the parents that the kernel lists. */
export function descendantsOf(ancestor: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(name)
    if (parent === null) continue
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [Number(name)])
    else siblings.push(Number(name))
  }
  const found: number[] = []
  const pending = [...(children.get(ancestor) ?? [])]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    found.push(next)
    pending.push(...(children.get(next) ?? []))
  }
  return found
}

function parentOf(process: string): number | null {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'latin1')
    // The name may hold anything, parentheses and spaces included; the numbers follow the last one.
    return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ', 1)[0])
  } catch {
    // Ended since.
    return null
  }
}

import { closeSync, constants, fstatSync, openSync } from 'node:fs'

/** A name beneath the root, held open without following any link, so that what is mounted is what was looked at. */
export interface HeldName {
  /** Root-relative, with `/` between components. */
  readonly name: string
  readonly descriptor: number
  readonly kind: 'directory' | 'other'
}

/** Names to mount, and the directories above them, which must become mount points so that they cannot be renamed. */
export interface HeldNames {
  /** Shallow ones first: a mount hides what was mounted beneath it before. */
  readonly ancestors: readonly HeldName[]
  readonly names: readonly HeldName[]
}

/**
 * Opens each name with `O_PATH`, component by component from the root, following no link. The caller closes every
 * descriptor of the answer.
 *
 * A name that does not exist, or is reached only through a link, is left out: a mount there would be a placeholder, or
 * land where the link points, which a command running at the same time may just have changed. Such names are watched
 * by comparing before and after instead.
 */
export function holdNames(rootDir: string, names: readonly string[]): HeldNames {
  const root = openSync(rootDir, pathOnly | (constants.O_DIRECTORY ?? 0))
  const directories = new Map<string, HeldName>()
  const held = new Map<string, HeldName>()
  try {
    for (const name of names) {
      const components = name
        .split('/')
        .filter((component) => component !== '' && component !== '.')
      if (components.length === 0 || components.includes('..')) continue
      const chain = holdChain(root, components, directories)
      if (chain === null) continue
      for (const ancestor of chain.ancestors) directories.set(ancestor.name, ancestor)
      if (held.has(chain.last.name)) closeSync(chain.last.descriptor)
      else held.set(chain.last.name, chain.last)
    }
    return {
      ancestors: [...directories.values()].toSorted((a, b) => depth(a) - depth(b)),
      names: [...held.values()].toSorted((a, b) => depth(a) - depth(b)),
    }
  } catch (error) {
    for (const { descriptor } of [...directories.values(), ...held.values()]) closeSync(descriptor)
    throw error
  } finally {
    closeSync(root)
  }
}

// O_PATH, which node:fs does not name; the same number on every Linux architecture that Node supports.
const pathOnly = 0o10_000_000

interface Chain {
  readonly ancestors: readonly HeldName[]
  readonly last: HeldName
}

function holdChain(
  root: number,
  components: readonly string[],
  known: ReadonlyMap<string, HeldName>,
): Chain | null {
  const opened: HeldName[] = []
  const chain: HeldName[] = []
  let parent = root
  for (const [index, component] of components.entries()) {
    const name = components.slice(0, index + 1).join('/')
    const isLast = index === components.length - 1
    const next = (isLast ? undefined : known.get(name)) ?? hold(parent, component, name)
    if (next === null || (!isLast && next.kind !== 'directory')) {
      for (const { descriptor } of opened) closeSync(descriptor)
      if (next !== null && !known.has(name)) closeSync(next.descriptor)
      return null
    }
    if (known.get(name) !== next || isLast) opened.push(next)
    chain.push(next)
    parent = next.descriptor
  }
  const last = chain.pop()
  return last === undefined ? null : { ancestors: chain, last }
}

function hold(parent: number, component: string, name: string): HeldName | null {
  let descriptor: number
  try {
    descriptor = openSync(
      `/proc/self/fd/${parent}/${component}`,
      pathOnly | (constants.O_NOFOLLOW ?? 0),
    )
  } catch {
    return null
  }
  const status = fstatSync(descriptor)
  if (status.isSymbolicLink()) {
    closeSync(descriptor)
    return null
  }
  return { name, descriptor, kind: status.isDirectory() ? 'directory' : 'other' }
}

function depth(held: HeldName): number {
  return held.name.split('/').length
}

import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { cannotExamine, lookFailure } from './lookup-error.ts'
import { pathOfName } from './path-bytes.ts'

/** A name beneath the root, held open without following any link, so that what is mounted is what was looked at. */
export interface HeldName {
  /** Root-relative, with `/` between components. */
  readonly name: string
  readonly descriptor: number
  readonly kind: 'directory' | 'other'
}

/** A name to hide. What is mounted over it is not the thing itself, so nothing of it is held. */
export interface HiddenName {
  readonly name: string
  readonly kind: HeldName['kind']
}

/** Names to mount, and the directories above them, which must become mount points so that they cannot be renamed. */
export interface HeldNames {
  /** Shallow ones first: a mount hides what was mounted beneath it before. */
  readonly ancestors: readonly HeldName[]
  readonly protect: readonly HeldName[]
  readonly deny: readonly HiddenName[]
}

/**
 * Opens each name with `O_PATH`, component by component from the root, following no link. The caller closes every
 * descriptor of the answer.
 *
 * A name that does not exist, or is reached only through a link, is left out: a mount there would be a placeholder, or
 * land where the link points, which a command running at the same time may just have changed. Such names are watched
 * by comparing before and after instead. Where permissions forbid to look, the deepest directory that can be reached
 * stands for the name: a command of the same user could give itself the permission.
 *
 * @throws SandboxError `TOOL_PATH_DENIED`, `TOOL_FILE_FAILED` when a name can be neither held nor found absent
 */
export function holdNames(
  rootDir: string,
  { protect, deny }: { readonly protect: readonly string[]; readonly deny: readonly string[] },
): HeldNames {
  const root = openSync(rootDir, pathOnly | (constants.O_DIRECTORY ?? 0))
  const directories = new Map<string, HeldName>()
  const held = new Map<string, HeldName>()
  const hidden = new Map<string, HiddenName>()
  const holdEach = (
    names: readonly string[],
    rule: 'deny' | 'protect',
    keep: (last: HeldName) => void,
  ): void => {
    for (const name of names) {
      const components = name
        .split('/')
        .filter((component) => component !== '' && component !== '.')
      if (components.length === 0 || components.includes('..')) continue
      const chain = holdChain(root, components, directories, rule)
      if (chain === null) continue
      for (const ancestor of chain.ancestors) directories.set(ancestor.name, ancestor)
      keep(chain.last)
    }
  }
  try {
    holdEach(protect, 'protect', (last) => {
      if (held.has(last.name)) closeSync(last.descriptor)
      else held.set(last.name, last)
    })
    // Closed at once: there may be more denied names than descriptors.
    holdEach(deny, 'deny', ({ name, kind, descriptor }) => {
      closeSync(descriptor)
      hidden.set(name, { name, kind })
    })
    return {
      ancestors: [...directories.values()].toSorted((a, b) => depth(a) - depth(b)),
      protect: [...held.values()].toSorted((a, b) => depth(a) - depth(b)),
      deny: [...hidden.values()].toSorted((a, b) => depth(a) - depth(b)),
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
  rule: 'deny' | 'protect',
): Chain | null {
  const opened: HeldName[] = []
  const chain: HeldName[] = []
  let parent = root
  try {
    for (const [index, component] of components.entries()) {
      const name = components.slice(0, index + 1).join('/')
      const isLast = index === components.length - 1
      const next = (isLast ? undefined : known.get(name)) ?? hold(parent, component, name)
      if (next === null) {
        closeEach(opened)
        return null
      }
      if (isLast || known.get(name) !== next) opened.push(next)
      if (!isLast && next.kind !== 'directory') {
        closeEach(opened)
        return null
      }
      chain.push(next)
      parent = next.descriptor
    }
  } catch (error) {
    closeEach(opened)
    if (lookFailure(error) !== 'forbidden' || chain.length === 0) {
      throw cannotExamine(components.slice(0, Math.max(chain.length, 1)).join('/'), rule, error)
    }
    return holdChain(root, components.slice(0, chain.length), known, rule)
  }
  const last = chain.pop()
  return last === undefined ? null : { ancestors: chain, last }
}

function hold(parent: number, component: string, name: string): HeldName | null {
  let descriptor: number
  try {
    descriptor = openSync(
      pathOfName(`/proc/self/fd/${parent}/${component}`),
      pathOnly | (constants.O_NOFOLLOW ?? 0),
    )
  } catch (error) {
    if (lookFailure(error) === 'absent') return null
    throw error
  }
  const status = fstatSync(descriptor)
  if (status.isSymbolicLink()) {
    closeSync(descriptor)
    return null
  }
  return { name, descriptor, kind: status.isDirectory() ? 'directory' : 'other' }
}

function closeEach(names: readonly HeldName[]): void {
  for (const { descriptor } of names) closeSync(descriptor)
}

function depth({ name }: HiddenName): number {
  return name.split('/').length
}

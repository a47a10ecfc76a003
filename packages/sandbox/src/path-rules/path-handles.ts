import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { cannotExamine, lookupFailure } from './lookup-error.ts'
import { pathOfName } from './path-bytes.ts'

/** A name beneath the root, held open without following any link, so that what is mounted is what was checked. */
export interface PathHandle {
  /** Root-relative, with `/` between components. */
  readonly name: string
  readonly descriptor: number
  readonly kind: 'directory' | 'other'
}

/** A name to hide. What is mounted over it is not the thing itself, so no handle is kept. */
export interface HiddenPath {
  readonly name: string
  readonly kind: PathHandle['kind']
}

/** Names to mount, and the directories above them, which must become mount points so that they cannot be renamed. */
export interface PathHandles {
  /** Shallow ones first: a mount hides what was mounted beneath it before. */
  readonly ancestors: readonly PathHandle[]
  readonly protect: readonly PathHandle[]
  readonly deny: readonly HiddenPath[]
}

/**
 * Opens each name with `O_PATH`, component by component from the root, following no link. The caller closes every
 * descriptor of the answer.
 *
 * A name that does not exist, or is reached only through a link, is left out: a mount there would be a placeholder, or
 * land where the link points, which a command running at the same time may just have changed. Such names are watched
 * by comparing before and after instead. Where permissions forbid the lookup, the deepest directory that can be reached
 * takes the rule: a command of the same user could grant itself the permission.
 *
 * @throws SandboxError `TOOL_PATH_DENIED`, `TOOL_FILE_FAILED` when a name can be neither opened nor found absent
 */
export function openPathHandles(
  rootDir: string,
  { protect, deny }: { readonly protect: readonly string[]; readonly deny: readonly string[] },
): PathHandles {
  const root = openSync(rootDir, pathOnly | (constants.O_DIRECTORY ?? 0))
  const directories = new Map<string, PathHandle>()
  const protectedHandles = new Map<string, PathHandle>()
  const hidden = new Map<string, HiddenPath>()
  const openEach = (
    names: readonly string[],
    rule: 'deny' | 'protect',
    keep: (last: PathHandle) => void,
  ): void => {
    for (const name of names) {
      const components = name
        .split('/')
        .filter((component) => component !== '' && component !== '.')
      if (components.length === 0 || components.includes('..')) continue
      const chain = openChain(root, components, directories, rule)
      if (chain === null) continue
      for (const ancestor of chain.ancestors) directories.set(ancestor.name, ancestor)
      keep(chain.last)
    }
  }
  try {
    openEach(protect, 'protect', (last) => {
      if (protectedHandles.has(last.name)) closeSync(last.descriptor)
      else protectedHandles.set(last.name, last)
    })
    // Closed at once: there may be more denied names than descriptors.
    openEach(deny, 'deny', ({ name, kind, descriptor }) => {
      closeSync(descriptor)
      hidden.set(name, { name, kind })
    })
    return {
      ancestors: [...directories.values()].toSorted((a, b) => depth(a) - depth(b)),
      protect: [...protectedHandles.values()].toSorted((a, b) => depth(a) - depth(b)),
      deny: [...hidden.values()].toSorted((a, b) => depth(a) - depth(b)),
    }
  } catch (error) {
    for (const { descriptor } of [...directories.values(), ...protectedHandles.values()])
      closeSync(descriptor)
    throw error
  } finally {
    closeSync(root)
  }
}

// O_PATH, which node:fs does not name; the same number on every Linux architecture that Node supports.
const pathOnly = 0o10_000_000

interface Chain {
  readonly ancestors: readonly PathHandle[]
  readonly last: PathHandle
}

function openChain(
  root: number,
  components: readonly string[],
  known: ReadonlyMap<string, PathHandle>,
  rule: 'deny' | 'protect',
): Chain | null {
  const opened: PathHandle[] = []
  const chain: PathHandle[] = []
  let parent = root
  try {
    for (const [index, component] of components.entries()) {
      const name = components.slice(0, index + 1).join('/')
      const isLast = index === components.length - 1
      const next = (isLast ? undefined : known.get(name)) ?? openHandle(parent, component, name)
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
    if (lookupFailure(error) !== 'forbidden' || chain.length === 0) {
      throw cannotExamine(components.slice(0, Math.max(chain.length, 1)).join('/'), rule, error)
    }
    return openChain(root, components.slice(0, chain.length), known, rule)
  }
  const last = chain.pop()
  return last === undefined ? null : { ancestors: chain, last }
}

function openHandle(parent: number, component: string, name: string): PathHandle | null {
  let descriptor: number
  try {
    descriptor = openSync(
      pathOfName(`/proc/self/fd/${parent}/${component}`),
      pathOnly | (constants.O_NOFOLLOW ?? 0),
    )
  } catch (error) {
    if (lookupFailure(error) === 'absent') return null
    throw error
  }
  const status = fstatSync(descriptor)
  if (status.isSymbolicLink()) {
    closeSync(descriptor)
    return null
  }
  return { name, descriptor, kind: status.isDirectory() ? 'directory' : 'other' }
}

function closeEach(names: readonly PathHandle[]): void {
  for (const { descriptor } of names) closeSync(descriptor)
}

function depth({ name }: HiddenPath): number {
  return name.split('/').length
}

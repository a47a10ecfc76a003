import { closeSync, constants, openSync } from 'node:fs'
import { canWalkDescriptors } from '../files/guard/beneath-tree.ts'
import type { OpenRoot } from '../files/open-root.ts'
import { pathOfName } from './path-bytes.ts'

// O_PATH, which node:fs does not name; the same number on every Linux architecture that Node supports.
const pathOnly = 0o10_000_000

let hasDescriptors: boolean | undefined

/**
 * Calls `act` with a path for one name below the root whose parent directories were opened one by one, without following a
 * link: a link that a command puts in place of a directory leads nowhere.
 *
 * Where `/proc` is missing the path is the plain one.
 *
 * @throws the system's error; `ELOOP` or `ENOTDIR` when a parent is a link
 */
export function inParent<Result>(
  { handle }: OpenRoot,
  name: string,
  act: (path: string) => Result,
): Result {
  hasDescriptors ??= canWalkDescriptors()
  if (!hasDescriptors) return act(`${handle}/${name}`)
  const components = name.split('/').filter((component) => component !== '')
  const last = components.pop() ?? '.'
  const flags = pathOnly | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
  let parent = openSync(`${handle}/`, flags)
  try {
    for (const component of components) {
      const next = openSync(pathOfName(`/proc/self/fd/${parent}/${component}`), flags)
      closeSync(parent)
      parent = next
    }
    return act(`/proc/self/fd/${parent}/${last}`)
  } finally {
    closeSync(parent)
  }
}

import { createHash } from 'node:crypto'
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, posix } from 'node:path'
import { systemCode } from '../files/file-error.ts'
import type { OpenRoot } from '../files/open-root.ts'
import { inParent } from './in-parent.ts'
import { openBeneathTree } from '../files/guard/beneath-tree.ts'
import { emptyDirectory } from '../files/operations/remove-tree.ts'
import { isWithin } from './path-order.ts'
import type { SavedContent } from './path-snapshot.ts'
import { homeDirectory } from '../options/home-directory.ts'

/**
 * The directory outside the root where changes that were undone are kept: `smithers/set-aside/NAME-HASH` in
 * `$XDG_STATE_HOME` or `~/.local/state`, else in the temporary directory; `undefined` when all of them are in the root.
 */
export function setAsideDirectory(
  rootDir: string,
  stateDirectory: string = process.env['XDG_STATE_HOME'] || join(homeDirectory(), '.local/state'),
): string | undefined {
  const candidates = [stateDirectory, '/var/tmp', tmpdir()]
  const base = candidates.find((path) => path.startsWith('/') && !isWithin(path, rootDir))
  if (base === undefined) return undefined
  const hash = createHash('sha256').update(rootDir).digest('hex').slice(0, 12)
  return join(base, 'smithers', 'set-aside', `${basename(rootDir) || 'root'}-${hash}`)
}

let count = 0

/** Moves a path out of the root, and returns where it is now. @throws the system's error; nothing was moved */
export function setAside(root: OpenRoot, path: string, directory: string): string {
  const stamp = `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}-${(count += 1)}`
  const target = join(directory, stamp, path.replaceAll('/', '__'))
  mkdirSync(join(directory, stamp), { recursive: true, mode: 0o700 })
  inParent(root, path, (source) => {
    try {
      renameSync(source, target)
    } catch (error) {
      if (systemCode(error) !== 'EXDEV') throw error
      copyTree(source, target)
      removeTree(source)
    }
  })
  return target
}

/** To another file system. Links stay links; pipes, sockets and devices hold nothing to keep. */
function copyTree(source: string, target: string): void {
  const stats = lstatSync(source)
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
  else if (stats.isFile()) copyFileSync(source, target, constants.COPYFILE_EXCL)
  else if (stats.isDirectory()) {
    mkdirSync(target, { mode: 0o700 })
    for (const name of readdirSync(source)) copyTree(join(source, name), join(target, name))
  }
}

/** By descriptors: another process may exchange what is in it meanwhile. */
function removeTree(path: string): void {
  if (!lstatSync(path).isDirectory()) {
    unlinkSync(path)
    return
  }
  const tree = openBeneathTree(path)
  try {
    for (const _ of emptyDirectory(tree, tree.root)) continue
  } finally {
    tree.root.close()
  }
  rmdirSync(path)
}

/** Writes a path as it was, after what replaced it was moved away. @throws the system's error */
export function putBack(root: OpenRoot, path: string, { kind, bytes, mode }: SavedContent): void {
  makeParents(root, path)
  inParent(root, path, (target) => {
    if (kind === 'link') {
      symlinkSync(bytes, target)
      return
    }
    const temporary = `${posix.dirname(target)}/.smithers-${process.pid}-${(count += 1)}`
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 })
    try {
      chmodSync(temporary, mode)
      renameSync(temporary, target)
    } catch (error) {
      unlinkSync(temporary)
      throw error
    }
  })
}

function makeParents(root: OpenRoot, path: string): void {
  const components = path.split('/').slice(0, -1)
  for (const index of components.keys()) {
    const parent = components.slice(0, index + 1).join('/')
    try {
      inParent(root, parent, (target) => mkdirSync(target))
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

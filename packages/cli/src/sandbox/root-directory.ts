import { realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { badInput } from '../errors/command-failure.ts'

/** The absolute path of a root, which must be a directory. */
export function checkedRoot(path: string): string {
  if (!isDirectory(path)) {
    throw badInput(`--root ${path} is not a directory. Give the folder that the agent may work in.`)
  }
  return realpathSync(path)
}

/** True for a path inside the root, where the agent can change it. */
export function isBeneath(rootDir: string, path: string): boolean {
  const steps = relative(rootDir, resolve(path))
  return (
    steps !== '..' && !steps.startsWith(`..${sep}`) && resolve(rootDir, steps) === resolve(path)
  )
}

/** True for the path of a directory. */
export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

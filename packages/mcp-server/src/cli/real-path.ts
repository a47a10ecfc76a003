import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The path with its links resolved, also when the file does not exist yet. */
export function realPath(path: string): string {
  const absolute = resolve(path)
  if (existsSync(absolute)) return realpathSync(absolute)
  const folder = dirname(absolute)
  return folder === absolute ? absolute : join(realPath(folder), basename(absolute))
}

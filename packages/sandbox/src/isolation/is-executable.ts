import { accessSync, constants } from 'node:fs'

/** Whether this user may execute what stands at `path`; false when nothing does. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

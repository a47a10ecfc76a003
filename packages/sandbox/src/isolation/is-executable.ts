import { accessSync, constants, existsSync } from 'node:fs'

/** Whether this user may execute the file at `path`; false when it does not exist. */
export function isExecutable(path: string): boolean {
  // Most directories on PATH have no such file, and an error costs ten times as much as this check.
  if (!existsSync(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

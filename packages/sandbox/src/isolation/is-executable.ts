import { accessSync, constants, existsSync } from 'node:fs'

/** Whether this user may execute what stands at `path`; false when nothing does. */
export function isExecutable(path: string): boolean {
  // Most places on PATH hold no such file, and an error costs ten times as much as a look.
  if (!existsSync(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

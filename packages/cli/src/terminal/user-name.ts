import { userInfo } from 'node:os'

/** The name of the user of this process; its number where the system has no name for it, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

import { homedir } from 'node:os'

/**
 * The home of this process's user; `/nonexistent`, as systems call it, where neither the environment nor the system names
 * one: a user with a number and no entry, as in many containers.
 */
export function homeDirectory(): string {
  try {
    return homedir()
  } catch {
    return '/nonexistent'
  }
}

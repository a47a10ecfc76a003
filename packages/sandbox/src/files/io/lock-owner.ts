import { lstatSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { isGone, processSpace, startTimeOf } from './process-identity.ts'

/** Names this thread as the owner of locks. Every lock is a hard link to its file. */
export interface LockOwner {
  /** Where locks are. */
  readonly directory: string
  /** The path of the file that names us. */
  readonly file: string
}

/** Memory first; both are the same for every process of the machine, whatever its environment says. */
const parents = ['/dev/shm', '/tmp']

let current: LockOwner | null | undefined

/** This thread as the owner of locks; undefined where processes cannot be told apart or no directory can be used. */
export function lockOwner(): LockOwner | undefined {
  if (current === undefined) {
    current = createOwner() ?? null
    const { file } = current ?? {}
    if (file !== undefined) process.once('exit', () => remove(file))
  }
  return current ?? undefined
}

/** Makes the file that names us again, for instance after a cleaner of temporary files has removed it. */
export function renewLockOwner(): LockOwner | undefined {
  current = undefined
  return lockOwner()
}

/**
 * Whether the owner of a lock has certainly ended. A process of another namespace or boot cannot be looked up here, so it
 * counts as alive.
 */
export function hasEnded(path: string): boolean {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch {
    // Released meanwhile.
    return false
  }
  const [space, pid, startTime] = text.split(' ')
  if (space !== processSpace() || pid === undefined || startTime === undefined) return false
  return isGone(Number(pid)) || startTimeOf(Number(pid)) !== startTime
}

function createOwner(): LockOwner | undefined {
  const space = processSpace()
  const startTime = startTimeOf(process.pid)
  const user = process.getuid?.()
  if (space === undefined || startTime === undefined || user === undefined) return undefined
  for (const parent of parents) {
    const directory = `${parent}/smithers-locks-${user}`
    try {
      makePrivate(directory, user)
      removeEnded(directory)
      const file = `${directory}/owner-${crypto.randomUUID()}`
      writeFileSync(file, `${space} ${process.pid} ${startTime}`, { flag: 'wx', mode: 0o600 })
      return { directory, file }
    } catch {
      // Not writable, or not ours: try the next one.
    }
  }
  return undefined
}

/** Creates a directory that only this user can enter, or checks that it is one: another user could have made it first. */
function makePrivate(directory: string, user: number): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const stat = lstatSync(directory)
    if (!stat.isDirectory() || stat.uid !== user || (stat.mode & 0o077) !== 0) throw error
  }
}

/** Removes what killed processes have left. */
function removeEnded(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.startsWith('owner-') && hasEnded(`${directory}/${name}`))
      remove(`${directory}/${name}`)
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Another process was faster.
  }
}

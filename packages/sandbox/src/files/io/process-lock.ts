import { linkSync, unlinkSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import { hasEnded, type LockOwner, lockOwner, renewLockOwner } from './lock-owner.ts'

/** Releases a lock. */
export type ReleaseProcessLock = () => void

/**
 * Takes a lock between the processes of one user on one machine; undefined while another process has it. A lock is a hard
 * link in memory and outside every root, so taking and releasing it are one system call each.
 *
 * *Guarantees* (Linux): of all processes and threads that use this lock, one has it at a time. The lock of a process that
 * died is taken over.
 * *Does not protect against* other users, other machines on a shared volume, and programs that do not use this lock.
 * Where no directory for locks can be used, nothing is locked.
 */
export function tryProcessLock(key: string): ReleaseProcessLock | undefined {
  const owner = lockOwner()
  if (owner === undefined) return notLocked
  const path = `${owner.directory}/lock-${hashOf(key)}`
  let outcome = link(owner, path)
  if (outcome === 'taken' && hasEnded(path)) outcome = takeOver(owner, path)
  if (outcome === 'taken') return undefined
  return outcome === 'ours' ? () => unlink(path) : notLocked
}

/**
 * Takes a lock and waits while another process has it.
 *
 * @throws SandboxError `TOOL_FILE_FAILED` after `fileLimits.maxLockWaitMs`
 */
export async function waitForProcessLock(key: string): Promise<ReleaseProcessLock> {
  const startedAt = performance.now()
  for (let round = 1; ; round += 1) {
    const release = tryProcessLock(key)
    if (release !== undefined) return release
    if (performance.now() - startedAt > fileLimits.maxLockWaitMs) throw waitedTooLong()
    // A random pause, so that two processes do not keep missing the same gap.
    const pauseMs = Math.random() * Math.min(round, fileLimits.maxLockPauseMs)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function notLocked(): void {
  // Nothing was locked.
}

/** `'none'`: the directory of locks has stopped working. */
type LinkOutcome = 'ours' | 'taken' | 'none'

function link(owner: LockOwner, path: string): LinkOutcome {
  try {
    linkSync(owner.file, path)
    return 'ours'
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return 'taken'
    // A cleaner of temporary files may have removed our file: the next lock has a new one.
    if (systemCode(error) === 'ENOENT') renewLockOwner()
    return 'none'
  }
}

/**
 * Takes over the lock of a process that died. One process at a time may do so, since a second one would remove the lock
 * that the first has just taken.
 */
function takeOver(owner: LockOwner, path: string): LinkOutcome {
  const taking = `${path}.taking-over`
  const outcome = link(owner, taking)
  if (outcome !== 'ours') {
    if (hasEnded(taking)) unlink(taking)
    return outcome
  }
  try {
    if (hasEnded(path)) unlink(path)
    return link(owner, path)
  } finally {
    unlink(taking)
  }
}

function unlink(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

/** A short name for a key (FNV-1a, twice). Two keys with one name wait for each other. */
function hashOf(key: string): string {
  let [first, second] = [0x811c9dc5, 0x01000193]
  for (let index = 0; index < key.length; index += 1) {
    const unit = key.charCodeAt(index)
    first = Math.imul(first ^ unit, 0x01000193)
    second = Math.imul(second ^ unit, 0x85ebca6b)
  }
  return (first >>> 0).toString(16).padStart(8, '0') + (second >>> 0).toString(16).padStart(8, '0')
}

function waitedTooLong(): SandboxError {
  return new SandboxError(
    'TOOL_FILE_FAILED',
    `Another process has been changing this file for more than ${fileLimits.maxLockWaitMs / 1000} s. Nothing was changed. Try again.`,
    { details: { limitMs: fileLimits.maxLockWaitMs, errno: 'EAGAIN' }, effect: 'none' },
  )
}

import type { ChildProcess } from 'node:child_process'
import { closeDescriptors } from '../isolation/close-descriptors.ts'
import { feed } from './command-input.ts'
import { killGroup, killLeftovers, killTree } from './kill/kill-tree.ts'
import { watchMemory } from './resource-limits/memory-watch.ts'
import { OutputBuffer } from './output/output-buffer.ts'
import { drained, emptied, readStream } from './output/read-output.ts'
import { closePipes, exitOf, openPipes, outputsOf, spawnChild, spawnFailure } from './spawn.ts'
import type { CommandOutcome, RunCommandRequest, TerminationReason } from './run-settings.ts'

/**
 * Runs one command to its end and never longer: it settles when the command exits, after at most `drainMs` for
 * the rest of its output, not when the last holder of the pipe closes it. Timeout, abort and failure take one path,
 * SIGKILL to the whole tree; what a command leaves behind when it exits is killed too.
 */
export async function runCommand(request: RunCommandRequest): Promise<CommandOutcome> {
  const startedAt = performance.now()
  const buffer = new OutputBuffer(request.maxOutputBytes)
  const finish = (rest: Partial<CommandOutcome>): CommandOutcome => ({
    ...buffer.capture(),
    terminated: undefined,
    exitCode: null,
    signal: null,
    spawnError: undefined,
    callerError: undefined,
    ...rest,
    durationMs: performance.now() - startedAt,
  })

  let child: ChildProcess
  const pipes = openPipes(request.mergeOutput)
  try {
    child = spawnChild(request, pipes)
  } catch (error) {
    closePipes(pipes)
    return finish({ spawnError: error as NodeJS.ErrnoException })
  } finally {
    closeDescriptors(request.command.descriptors)
    closeDescriptors(pipes.map(({ childEnd }) => childEnd))
  }
  const { pid } = child
  if (pid === undefined) {
    closePipes(pipes)
    return finish({ spawnError: await spawnFailure(child) })
  }

  const tree = { pid, marker: request.marker }
  let terminated: TerminationReason | undefined
  let callerError: unknown
  let killing: Promise<void> | undefined
  const exited = exitOf(child)
  let hasExited = false
  const drain = new AbortController()
  const terminate = (reason: TerminationReason): void => {
    // The number of an exited process may be somebody else's: from then on there is only the wait to cut short.
    if (hasExited && reason === 'timeout') {
      // It was in time. Who is slow to take what it printed gets no more of it.
      for (const reader of readers) reader.letGo()
      return
    }
    terminated ??= reason
    if (hasExited) drain.abort()
    else if (request.namespaceKill) killGroup(pid)
    else killing ??= killTree(tree, { ageMs: performance.now() - startedAt, exited })
  }

  const fail = (error: unknown): void => {
    callerError ??= error
    terminate('caller-failed')
  }
  const timer = setTimeout(() => terminate('timeout'), request.timeoutMs)
  const onAbort = (): void => terminate('aborted')
  let unwatch: (() => void) | undefined
  const readers = outputsOf(child, pipes).map(([name, stream]) =>
    readStream(name, stream, buffer, request.onOutput, fail),
  )
  try {
    request.hooks.onStart?.(pid)
    request.signal?.addEventListener('abort', onAbort, { once: true })
    if (request.memoryMb !== null) {
      unwatch = watchMemory(tree, request.memoryMb, () => terminate('memory'))
    }
    // A command that has ended needed no more of its input.
    feed(child.stdin, request.stdin, (error) => {
      if (!hasExited) fail(error)
    })
    // An abort between the caller's check and the listener.
    if (request.signal?.aborted === true) onAbort()
  } catch (error) {
    // Whatever an object of the caller throws, no process is left behind.
    clearTimeout(timer)
    terminate('caller-failed')
    await exited
    await killing
    throw error
  }

  const { code, signal } = await exited
  hasExited = true
  request.hooks.onExit?.()
  if (killing === undefined && !request.namespaceKill) {
    killing = killLeftovers(tree, performance.now() - startedAt)
  }
  await killing
  // In a namespace every writer is dead by now; elsewhere one may have escaped and still hold the pipe.
  if (request.namespaceKill && terminated === undefined)
    await emptied(readers, buffer, drain.signal)
  else await drained(readers, drain.signal)
  for (const reader of readers) reader.stop()
  clearTimeout(timer)
  request.signal?.removeEventListener('abort', onAbort)
  unwatch?.()
  child.stdin?.destroy()
  return finish({ terminated, exitCode: code, signal, callerError })
}

import type { FileKind } from '../files/guard/directory-handle.ts'
import type { CommandRefusal } from '../command-policy/command-policy.ts'
import { SandboxError } from '../errors/sandbox-error.ts'
import type { RunResult } from './run-types.ts'

/** For the developer: a model cannot change it. */
const networkFix =
  "network: { allow: [...] } opens some hosts; allowNetwork: true for the tools, or network: 'host' for a sandbox, all of them"

export function refusedByPolicy(refusal: CommandRefusal, command: string): SandboxError {
  return new SandboxError(
    refusal.code,
    `Refused: ${refusal.reason}, and network access is off, so nothing was started. Work with what is in the root, or tell the user what needs the network.`,
    {
      details: { command, rule: refusal.rule, token: refusal.token, fix: networkFix },
      effect: 'none',
    },
  )
}

/** Why a command cannot start in `cwd`; `kind` is the kind of file at that path. */
export function cwdError(error: unknown, cwd: string, kind: FileKind | undefined): SandboxError {
  if (!SandboxError.isInstance(error)) throw error
  const shown = JSON.stringify(cwd)
  const refuse = (code: 'TOOL_SPAWN_FAILED' | 'TOOL_PATH_ESCAPE', message: string): SandboxError =>
    new SandboxError(code, message, { details: { cwd }, cause: error, effect: 'none' })
  if (error.code === 'TOOL_PATH_ESCAPE') {
    return refuse(
      error.code,
      `The working directory ${shown} is outside the root. Use one below the root, such as "src".`,
    )
  }
  if (error.code === 'TOOL_FILE_NOT_FOUND') {
    return refuse(
      'TOOL_SPAWN_FAILED',
      `The working directory ${shown} does not exist. Create it first, or leave cwd out to start in the root.`,
    )
  }
  if (kind !== undefined && kind !== 'directory') {
    return refuse(
      'TOOL_SPAWN_FAILED',
      `The working directory ${shown} is a ${kind}, not a directory. Pass the directory that holds it.`,
    )
  }
  if (error.details['errno'] === 'EACCES') {
    return refuse(
      'TOOL_SPAWN_FAILED',
      `The working directory ${shown} may not be entered. Restore its permissions (chmod u+rwx).`,
    )
  }
  return error
}

/** The path of the root leads to another directory than the one that was opened. */
export function rootChanged(rootDir: string): SandboxError {
  return new SandboxError(
    'TOOL_ROOT_CHANGED',
    'The root directory was moved, removed or replaced since it was opened, so nothing was started. Put it back, or open a new sandbox for the new one.',
    { details: { rootDir }, effect: 'none' },
  )
}

export function sandboxClosed(): SandboxError {
  return new SandboxError(
    'TOOL_CLOSED',
    'The sandbox was closed, so nothing was started. Create another one for the root with createSandbox.',
    { effect: 'none' },
  )
}

export function missingCommand(
  command: string,
  args: readonly string[],
  lookup: 'missing' | 'not-executable',
): SandboxError {
  if (lookup === 'not-executable') {
    const instead = ['sh', command]
    return new SandboxError(
      'TOOL_SPAWN_FAILED',
      `"${command}" is not an executable file. Run it through its interpreter, for example ${shownRun(instead)}, or make it executable.`,
      { details: { command, lookup, instead }, effect: 'none' },
    )
  }
  const isLine = /\s/.test(command)
  const instead = ['sh', '-lc', [command, ...args].join(' ')]
  const hint = isLine
    ? `No shell reads the command line: pass the words as args, or use ${shownRun(instead)}.`
    : command.includes('/')
      ? 'Check the path: it starts at the working directory.'
      : 'Check the spelling, pass a path, or use another program.'
  return new SandboxError('TOOL_SPAWN_FAILED', `Command not found: "${command}". ${hint}`, {
    details: { command, lookup, ...(isLine ? { instead } : {}) },
    effect: 'none',
  })
}

/** A command as `Sandbox.run` takes it; `details.instead` has it for callers that use another form. */
function shownRun([command, ...args]: readonly string[]): string {
  return `run(${JSON.stringify(command)}, [${args.map((arg) => JSON.stringify(arg)).join(', ')}])`
}

export function spawnFailed(
  command: string,
  args: readonly string[],
  error: NodeJS.ErrnoException,
): SandboxError {
  if (error.code === 'ENOENT') return missingCommand(command, args, 'missing')
  if (error.code === 'EACCES') return missingCommand(command, args, 'not-executable')
  const why =
    error.code === 'E2BIG'
      ? 'the arguments and the environment together are longer than the operating system takes. Put the data into a file'
      : error.code === 'EAGAIN'
        ? 'the operating system has no process left for it. End others or try again later'
        : `the operating system said ${error.code ?? 'no'}`
  return new SandboxError('TOOL_SPAWN_FAILED', `"${command}" could not be started: ${why}.`, {
    details: { command, errno: error.code },
    cause: error,
    effect: 'none',
  })
}

/** By isolation, which knows for certain whether the program was executed. */
export function neverStarted(command: string, why: string): SandboxError {
  return new SandboxError('TOOL_SPAWN_FAILED', `"${command}" could not be started: ${why}.`, {
    details: { command },
    effect: 'none',
  })
}

/** The way to the hosts of `network.allow` could not be opened. */
export function noProxy(command: string, cause: unknown): SandboxError {
  const { code } = cause as NodeJS.ErrnoException
  return new SandboxError(
    'TOOL_SPAWN_FAILED',
    `"${command}" could not be started: its proxy could not listen (${code ?? String(cause)}). Make the temporary directory (TMPDIR) writable, and its path shorter than 60 characters.`,
    { details: { command }, cause, effect: 'none' },
  )
}

/** The program that supervised the command died, so what the command did is unknown. */
export function isolationLost(command: string, why: string): SandboxError {
  return new SandboxError(
    'TOOL_ISOLATION_LOST',
    `"${command}" lost its supervisor and was killed: ${why}. Check what it changed before you run it again.`,
    { details: { command }, effect: 'unknown' },
  )
}

export function timedOut(command: string, timeoutMs: number): SandboxError {
  return new SandboxError(
    'TOOL_TIMEOUT',
    `"${command}" was still running after ${timeoutMs} ms and was killed with everything it had started. ` +
      `Do less in one command.`,
    { details: { command, timeoutMs, option: 'limits.timeoutMs' }, effect: 'unknown' },
  )
}

export function preparedTooLong(command: string, timeoutMs: number): SandboxError {
  return new SandboxError(
    'TOOL_TIMEOUT',
    `"${command}" was not started: after ${timeoutMs} ms its root was still being searched for what the deny globs match. Remove large directories that are not needed, such as build output, and try again.`,
    { details: { command, timeoutMs, option: 'limits.timeoutMs' }, effect: 'none' },
  )
}

export function aborted(
  command: string,
  signal: AbortSignal | undefined,
  effect: 'none' | 'unknown',
): SandboxError {
  return new SandboxError(
    'TOOL_ABORTED',
    effect === 'none'
      ? `"${command}" was not started: the call had been aborted.`
      : `"${command}" was aborted and killed with everything it had started.`,
    { details: { command }, cause: signal?.reason, effect },
  )
}

/** A rule that cannot be enforced refuses the command; an argument that nothing can take is the caller's mistake. */
export function refusalOf(error: unknown): SandboxError {
  if (SandboxError.isInstance(error) && error.code !== 'INVALID_INPUT') return error
  throw error
}

/** Ends the preparation of a command; `runCommand` turns it into a result. */
export class NotStarted extends Error {
  readonly status: RunResult['status']
  readonly reason: SandboxError

  constructor(status: RunResult['status'], reason: SandboxError) {
    super(reason.message, { cause: reason })
    this.name = 'NotStarted'
    this.status = status
    this.reason = reason
  }
}

/** @throws NotStarted when the call has been aborted, or its sandbox closed */
export function refuseAborted(
  command: string,
  signal: AbortSignal | undefined,
  closing: AbortSignal | undefined,
): void {
  if (signal?.aborted === true) throw new NotStarted('aborted', aborted(command, signal, 'none'))
  if (closing?.aborted === true) throw new NotStarted('refused', sandboxClosed())
}

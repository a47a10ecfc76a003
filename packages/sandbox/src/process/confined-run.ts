import { randomUUID } from 'node:crypto'
import type { SandboxFiles } from '../files/sandbox-files.ts'
import type { IsolationBackend } from '../isolation/backend.ts'
import { resolveLimits, type ResolvedLimits } from '../limits.ts'
import type { CommandCheck } from '../network/command-policy.ts'
import type { RunEnforcement, RunOptions, RunResult, Violation } from '../sandbox.ts'
import { SandboxError } from '../sandbox-error.ts'
import { markerVariable } from './environment.ts'
import { findDenied } from './find-denied.ts'
import { findCommand } from './find-command.ts'
import { OutputBuffer } from './output-buffer.ts'
import { runCommand, type CommandOutcome } from './run-command.ts'

/** A sandbox as its commands see it: every option resolved. */
export interface RunSettings {
  readonly rootDir: string
  readonly files: SandboxFiles
  readonly backend: IsolationBackend
  readonly network: 'none' | 'host'
  /** Absolute paths outside the root that commands may read. */
  readonly read: readonly string[]
  /** Globs of what commands may neither read nor change. */
  readonly deny: readonly string[]
  /** Names that commands may not change. */
  readonly protect: readonly string[]
  readonly enforced: RunEnforcement
  readonly env: Readonly<Record<string, string>>
  readonly limits: ResolvedLimits
  /** `null` when nothing is checked: the network is open, or left to isolation. */
  readonly check: CommandCheck | null
  /** Says once that only the static check stands before the network. */
  readonly warn: () => void
}

/** One command from its arguments to its result: checks, confines, runs, and says what happened. */
export async function confinedRun(
  settings: RunSettings,
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const limits = resolveLimits(options, settings.limits)
  const argv = [command, ...args] as const
  checkArgv(argv)
  const notStarted = (status: RunResult['status'], error: SandboxError): RunResult => ({
    ...nothing,
    status,
    error,
    enforced: settings.enforced,
  })

  if (options.signal?.aborted === true) {
    return notStarted('aborted', aborted(command, options.signal, 'none'))
  }
  const refusal = settings.check?.(argv) ?? null
  if (refusal !== null) {
    return notStarted(
      'refused',
      refusedByPolicy(refusal.code, refusal.reason, command, refusal.rule),
    )
  }
  let directory: ReturnType<SandboxFiles['openDirectory']>
  try {
    directory = settings.files.openDirectory(options.cwd ?? '.')
  } catch (error) {
    const problem = cwdError(error, options.cwd ?? '.')
    return notStarted(problem.code === 'TOOL_PATH_ESCAPE' ? 'refused' : 'spawn-error', problem)
  }
  try {
    const marker = randomUUID()
    const env: Record<string, string> = {
      ...settings.env,
      ...options.env,
      PWD: directory.absolutePath,
      [markerVariable]: marker,
    }
    // The name of a held descriptor: the directory that was checked, whatever the path names by now. Through our process
    // number and not `self`, since the child may have another descriptor at that number.
    const heldCwd =
      process.platform === 'linux'
        ? `/proc/${process.pid}/fd/${directory.fd}`
        : directory.absolutePath
    const lookup = findCommand(command, heldCwd, env['PATH'])
    if (lookup !== 'found') return notStarted('spawn-error', missingCommand(command, args, lookup))
    settings.warn()

    const wrapped = settings.backend.wrap({
      argv,
      cwd: directory.absolutePath,
      rootDir: settings.rootDir,
      policy: {
        network: settings.network,
        read: settings.read,
        protect: settings.protect,
        deny: findDenied(settings.rootDir, settings.deny),
        limits: { temporaryMb },
      },
      env,
    })
    const outcome = await runCommand({
      command: wrapped,
      cwd: wrapped.cwd === directory.absolutePath ? heldCwd : wrapped.cwd,
      timeoutMs: limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      signal: options.signal,
      stdin: options.stdin,
      onOutput: options.onOutput,
      marker,
      namespaceKill: settings.enforced.kill === 'enforced',
      watch: undefined,
    })
    return resultOf(outcome, { command, args, limits, options, settings, violations: [] })
  } finally {
    directory.close()
  }
}

/** Size of the private temporary directory, where the backend gives one. */
const temporaryMb = 1024

const nothing: Omit<RunResult, 'status' | 'enforced'> = Object.freeze({
  ...new OutputBuffer(1).capture(),
  exitCode: null,
  signal: null,
  durationMs: 0,
  violations: [],
})

interface ResultFacts {
  readonly command: string
  readonly args: readonly string[]
  readonly limits: ResolvedLimits
  readonly options: RunOptions
  readonly settings: RunSettings
  readonly violations: readonly Violation[]
}

function resultOf(outcome: CommandOutcome, facts: ResultFacts): RunResult {
  const { terminated, spawnError, outputError, ...captured } = outcome
  if (terminated === 'output-failed') throw outputError
  const [status, error] = verdict(outcome, facts)
  return {
    ...captured,
    status,
    enforced: facts.settings.enforced,
    violations: facts.violations,
    ...(error === undefined ? {} : { error }),
  }
}

function verdict(
  { terminated, spawnError, signal }: CommandOutcome,
  { command, args, limits, options }: ResultFacts,
): [RunResult['status'], SandboxError?] {
  if (spawnError !== undefined) return ['spawn-error', spawnFailed(command, args, spawnError)]
  if (terminated === 'timeout') return ['timeout', timedOut(command, limits.timeoutMs)]
  if (terminated === 'aborted') return ['aborted', aborted(command, options.signal, 'unknown')]
  return [signal === null ? 'exited' : 'killed']
}

function checkArgv(argv: readonly string[]): void {
  argv.forEach((argument, index) => {
    const name = index === 0 ? 'command' : `args[${index - 1}]`
    const problem =
      typeof argument !== 'string'
        ? `is ${argument === null ? 'null' : `a ${typeof argument}`}, not a string`
        : argument.includes('\0')
          ? 'holds a NUL character, which no argument of a process can'
          : index === 0 && argument.trim() === ''
            ? 'is empty'
            : undefined
    if (problem === undefined) return
    throw new SandboxError(
      'INVALID_INPUT',
      `${name} ${problem}. Pass the executable and its arguments as plain strings.`,
      { details: { argument: name }, effect: 'none' },
    )
  })
}

function refusedByPolicy(
  code: 'TOOL_NETWORK_DISABLED' | 'TOOL_GIT_REMOTE_DISABLED',
  reason: string,
  command: string,
  rule: string,
): SandboxError {
  return new SandboxError(
    code,
    `Refused: ${reason}, and network access is off. Work with what is in the root, or have the network allowed ` +
      `(network: 'host', or allowNetwork: true for the tools).`,
    { details: { command, rule }, effect: 'none' },
  )
}

function cwdError(error: unknown, cwd: string): SandboxError {
  if (!SandboxError.isInstance(error)) throw error
  const details = { ...error.details, cwd }
  switch (error.code) {
    case 'TOOL_FILE_NOT_FOUND':
      return new SandboxError(
        'TOOL_SPAWN_FAILED',
        `The working directory "${cwd}" does not exist. Create it first, or leave cwd out to start in the root.`,
        { details, cause: error, effect: 'none' },
      )
    case 'TOOL_NOT_A_FILE':
      return new SandboxError(
        'TOOL_SPAWN_FAILED',
        `The working directory "${cwd}" is a file, not a directory. Pass the directory that holds it.`,
        { details, cause: error, effect: 'none' },
      )
    default:
      return error
  }
}

function missingCommand(
  command: string,
  args: readonly string[],
  lookup: 'missing' | 'not-executable',
): SandboxError {
  const details = { command, lookup }
  if (lookup === 'not-executable') {
    return new SandboxError(
      'TOOL_SPAWN_FAILED',
      `"${command}" is not an executable file. Run it through its interpreter, for example ` +
        `{ cmd: "sh", args: [${JSON.stringify(command)}] }, or make it executable.`,
      { details, effect: 'none' },
    )
  }
  const hint = /\s/.test(command)
    ? `No shell reads the command line: pass the words as args, or use { cmd: "sh", args: ["-lc", ${JSON.stringify([command, ...args].join(' '))}] }.`
    : command.includes('/')
      ? 'Check the path: it starts at the working directory.'
      : 'Check the spelling, install it, or pass a path.'
  return new SandboxError('TOOL_SPAWN_FAILED', `Command not found: "${command}". ${hint}`, {
    details,
    effect: 'none',
  })
}

function spawnFailed(
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

function timedOut(command: string, timeoutMs: number): SandboxError {
  return new SandboxError(
    'TOOL_TIMEOUT',
    `"${command}" was still running after ${timeoutMs} ms and was killed with everything it had started. ` +
      `Do less in one command, or have the timeout raised.`,
    { details: { command, timeoutMs }, effect: 'unknown' },
  )
}

function aborted(
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

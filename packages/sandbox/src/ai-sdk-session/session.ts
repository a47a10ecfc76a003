import { constants } from 'node:os'
import { createSessionFiles } from './session-files.ts'
import { commandLimits } from '../options/limits.ts'
import { runCommand } from '../process/run.ts'
import { type RunSettings } from '../process/run-settings.ts'
import type { OutputChunk } from '../process/output/read-output.ts'
import type { RunResult } from '../process/run-types.ts'
import { SandboxError } from '../errors/sandbox-error.ts'
import type {
  SandboxSession,
  SessionCommand,
  SessionProcess,
  WritableSessionProcess,
} from './session-types.ts'

/** Creates an AI SDK sandbox session on a sandbox. */
export function createSession(settings: RunSettings): SandboxSession {
  return Object.freeze<SandboxSession>({
    description: describe(settings),
    ...createSessionFiles(settings.files),
    async run(options) {
      const result = await runCommand(settings, 'sh', ['-c', options.command], {
        cwd: options.workingDirectory,
        env: options.env,
        signal: options.abortSignal,
      })
      return {
        exitCode: exitCodeOf(result, options.abortSignal),
        stdout: result.stdout,
        stderr: result.stderr,
      }
    },
    spawn: ((options: SessionCommand & { readonly stdin?: boolean }) =>
      spawn(settings, options)) as SandboxSession['spawn'],
  })
}

/** The agent acts on this text, so it claims only what is enforced. */
function describe({ enforced, network, egress }: RunSettings): string {
  return `File methods are confined to the root directory; relative paths start there. ${commandFiles[enforced.files]} ${describeNetwork(enforced.network, network, egress)} Background processes end with the command that started them.`
}

const commandFiles = {
  enforced: 'Commands can change nothing outside it.',
  partial:
    'Commands can change no contents outside it; rules that hide files inside it do not hold for them.',
  none: 'Commands start there and are not confined: they have all rights of the user.',
} as const satisfies Record<RunSettings['enforced']['files'], string>

function describeNetwork(
  enforced: RunSettings['enforced']['network'],
  network: RunSettings['network'],
  egress: RunSettings['egress'],
): string {
  if (egress !== null)
    return 'The network is off but for some hosts, reached by the proxy in HTTPS_PROXY.'
  if (network === 'host') return 'The network is open.'
  return enforced === 'enforced'
    ? 'The network is off.'
    : 'Commands that use the network are refused as far as their arguments show it.'
}

async function spawn(
  settings: RunSettings,
  options: SessionCommand & { readonly stdin?: boolean },
): Promise<SessionProcess | WritableSessionProcess> {
  const killed = new AbortController()
  const input = options.stdin === true ? new TransformStream<Uint8Array, Uint8Array>() : undefined
  const outputs = { stdout: new OutputPipe(), stderr: new OutputPipe() }
  const started = deferred<number>()
  const done = runCommand(
    settings,
    'sh',
    ['-c', options.command],
    {
      cwd: options.workingDirectory,
      env: options.env,
      // A spawned process may run as long as the longest command.
      timeoutMs: commandLimits.timeoutMs.maximum,
      signal:
        options.abortSignal === undefined
          ? killed.signal
          : AbortSignal.any([options.abortSignal, killed.signal]),
      stdin: input?.readable,
      onOutput: ({ stream, bytes }: OutputChunk) => outputs[stream].write(bytes),
    },
    {
      onStart: started.resolve,
      // Little output remains in the pipes, and the caller may not be reading it.
      onExit: () => Object.values(outputs).forEach((output) => output.release()),
    },
  ).finally(() => Object.values(outputs).forEach((output) => output.end()))
  // The result of a command that never started has the error for `spawn` to throw.
  done.then((result) => started.reject(result.error ?? new Error(result.status)), started.reject)
  const pid = await started.promise
  return {
    pid,
    stdout: outputs.stdout.stream,
    stderr: outputs.stderr.stream,
    ...(input === undefined ? {} : { stdin: input.writable }),
    wait: async () => ({ exitCode: exitCodeOf(await done, options.abortSignal) }),
    async kill() {
      killed.abort()
      await done.catch(() => {})
    },
  }
}

/** The exit code, 128 plus the number for a signal as in shells. Throws when the command has none. */
function exitCodeOf(result: RunResult, abortSignal: AbortSignal | undefined): number {
  if (result.status === 'aborted' && abortSignal?.aborted === true) throw abortSignal.reason
  if (result.exitCode !== null) return result.exitCode
  if (result.signal !== null && result.status !== 'timeout') {
    return 128 + constants.signals[result.signal]
  }
  throw result.error ?? new SandboxError('TOOL_SPAWN_FAILED', 'The command did not run.')
}

/** Unread bytes per stream before the command must wait. */
const highWaterMark = 1024 * 1024

/** One output of a command as a web stream with back-pressure. */
class OutputPipe {
  readonly stream: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #resume: (() => void) | undefined
  #closed = false
  #released = false

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#resume?.(),
        cancel: () => {
          this.#closed = true
          this.#resume?.()
        },
      },
      { highWaterMark, size: (chunk) => chunk?.byteLength ?? 0 },
    )
  }

  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#closed) return
    this.#controller.enqueue(bytes)
    if (this.#released || (this.#controller.desiredSize ?? 0) > 0) return
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  release(): void {
    this.#released = true
    this.#resume?.()
  }

  end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#controller.close()
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (reason: unknown) => void
}

function deferred<Value>(): Deferred<Value> {
  let settle!: Omit<Deferred<Value>, 'promise'>
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}

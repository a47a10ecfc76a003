import { constants } from 'node:os'
import type { RunResult } from '@smithers/sandbox'
import { SmithersError } from '@smithers/tool-core'
import { type BashInput, nameOf } from './bash-input.ts'
import { withoutEscapes } from '../model/model-text.ts'

/**
 * The output, with what the sandbox undid after it: the model must know that a file is not as it wrote it, and the log
 * must say what was planted.
 */
export function withNotes(result: RunResult, notes: readonly string[]): string {
  const messages = [...messagesOf(result), ...notes]
  if (messages.length === 0) return result.output
  const gap = result.output === '' || result.output.endsWith('\n') ? '' : '\n'
  return `${result.output}${gap}${messages.map((message) => `[sandbox] ${message}`).join('\n')}\n`
}

export function messagesOf({ violations }: RunResult): readonly string[] {
  return violations.map(({ message }) => message)
}

/** A model that left a server in the background would look for it in vain. */
export function leftBehindNotes({ leftBehind }: RunResult, hasBackground: boolean): string[] {
  if (leftBehind !== true) return []
  const advice = hasBackground ? ' To keep a command running, use background: true.' : ''
  return [`Processes that the command left in the background were ended with it.${advice}`]
}

/** What a failure says beside the result. */
export interface FailureContext {
  /** Of hosts that were approved too late. */
  readonly notes: readonly string[]
  /** What the model may ask for. */
  readonly longestTimeoutMs: number
  /** Whether it can leave a command running. */
  readonly hasBackground: boolean
}

/** A model sees only the message, so it includes how the command ended and the end of its output. */
export function failure(
  input: BashInput,
  result: RunResult,
  { notes, ...context }: FailureContext,
): SmithersError {
  const details = {
    ...result.error?.details,
    status: result.status,
    exitCode: result.exitCode,
    signal: result.signal,
    durationMs: Math.round(result.durationMs),
    enforced: result.enforced,
    ...(result.violations.length === 0 ? {} : { violations: result.violations }),
  }
  if (result.error !== undefined) {
    const { code, effect } = result.error
    const more = timeoutAdvice(input, result, context)
    const message = [
      inToolsForm(input, result.error),
      ...more,
      ...notes,
      ...messagesOf(result),
    ].join(' ')
    return new SmithersError(code, withOutput(message, result), {
      details,
      cause: result.error,
      ...(effect === undefined ? {} : { effect }),
    })
  }
  // The hint may be what a violation says.
  const reasons = new Set([
    ...notes,
    ...messagesOf(result),
    ...(result.hint === undefined ? [] : [result.hint]),
  ])
  const message = [`"${nameOf(input)}" ${outcomeOf(result)}.`, ...reasons].join(' ')
  return new SmithersError('TOOL_COMMAND_FAILED', withOutput(message, result), { details })
}

/** The run pauses for approval of a host. What the command printed is for people, who read the log. */
export function waiting(
  { code, message, details }: SmithersError,
  result: RunResult,
): SmithersError {
  return new SmithersError(code, withOutput(message, result), { details })
}

/** A longer time is the model's to choose, up to what the developer set. */
function timeoutAdvice(
  { timeoutMs }: BashInput,
  { status }: RunResult,
  { longestTimeoutMs, hasBackground }: Omit<FailureContext, 'notes'>,
): readonly string[] {
  if (status !== 'timeout') return []
  const isShort = timeoutMs !== undefined && timeoutMs < longestTimeoutMs
  return [
    ...(isShort ? [`Or pass a longer timeoutMs, up to ${longestTimeoutMs}.`] : []),
    ...(hasBackground ? ['Or leave it running with background: true.'] : []),
  ]
}

/** Turns the sandbox's advice, `run("sh", [...])`, into a call of this tool. */
function inToolsForm(
  input: BashInput,
  { message: ofSandbox, details }: NonNullable<RunResult['error']>,
): string {
  const isScript = input.command !== undefined && ofSandbox.startsWith('"sh"')
  const message = isScript ? `"${nameOf(input)}"${ofSandbox.slice('"sh"'.length)}` : ofSandbox
  const { instead } = details
  if (!Array.isArray(instead)) return message
  const [cmd, ...args] = instead.map((word) => JSON.stringify(word))
  const list = `[${args.join(', ')}]`
  const [program, option, script] = instead
  const call =
    program === 'sh' && option === '-lc'
      ? `{ command: ${JSON.stringify(script)} }`
      : `{ cmd: ${cmd}, args: ${list} }`
  return message.replace(`run(${cmd}, ${list})`, () => call)
}

/**
 * Signals that end commands in practice. The name of any other would mislead: programs use the numbers from 129 on for
 * errors of their own, as git does with 129 for wrong usage.
 */
const endingSignals: ReadonlySet<string> = new Set([
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
])

/** How a command ended, as the end of a sentence. */
export function outcomeOf({ exitCode, signal }: RunResult): string {
  if (signal !== null) return `was ended by ${signal}`
  // Shells and process namespaces report a signal as 128 plus its number, which a program can also return by itself.
  const number = (exitCode ?? 0) - 128
  const name = Object.entries(constants.signals).find(
    ([each, value]) => value === number && endingSignals.has(each),
  )?.[0]
  return `exited with code ${exitCode}${name === undefined ? '' : `, as after ${name}`}`
}

function withOutput(message: string, { output, status }: RunResult): string {
  if (status === 'refused' || status === 'spawn-error') return message
  if (output === '') return `${message} It printed nothing.`
  if (output.trim() === '') return `${message} It printed only blanks.`
  return `${message} Output:\n${withoutEscapes(output)}`
}

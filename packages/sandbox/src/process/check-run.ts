import type { RunOptions } from '../sandbox.ts'
import { SandboxError } from '../sandbox-error.ts'

/**
 * Refuses what a caller without types may pass and no process can be given, before anything is started.
 *
 * @throws SandboxError `INVALID_INPUT`, naming the argument or the option
 */
export function checkRun(command: string, args: readonly string[], options: RunOptions): void {
  if (!Array.isArray(args)) throw invalid('args', `is ${kindOf(args)}, not an array`, argvAdvice)
  for (const [index, argument] of [command, ...args].entries()) {
    const name = index === 0 ? 'command' : `args[${index - 1}]`
    const problem =
      textProblem(argument) ?? (index === 0 && argument.trim() === '' ? 'is empty' : undefined)
    if (problem !== undefined) throw invalid(name, problem, argvAdvice)
  }
  const { signal, stdin, onOutput, access } = options
  if (signal !== undefined && !isSignal(signal)) {
    throw invalid('signal', `is ${kindOf(signal)}, not an AbortSignal`, 'Pass an AbortSignal.')
  }
  if (stdin !== undefined && !isInput(stdin)) {
    throw invalid(
      'stdin',
      `is ${kindOf(stdin)}`,
      'Pass a string, a Uint8Array or an async iterable of Uint8Array.',
    )
  }
  if (access !== undefined && access !== 'read' && access !== 'write') {
    throw invalid('access', `is ${JSON.stringify(access)}`, "Pass 'read' or 'write'.")
  }
  if (onOutput !== undefined && typeof onOutput !== 'function') {
    throw invalid('onOutput', `is ${kindOf(onOutput)}, not a function`, 'Pass a function.')
  }
}

/** The variables of one command; those that are undefined are left out, as where `process.env` is spread. */
export function checkedVariables(env: RunOptions['env']): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, value] of Object.entries<string | undefined>(env ?? {})) {
    if (value === undefined) continue
    const shown = `env[${JSON.stringify(name.slice(0, 64))}]`
    if (name === '' || name.includes('=')) {
      throw invalid(shown, 'has a name that is empty or holds "="', 'Pass names without "=".')
    }
    const problem = textProblem(name) ?? textProblem(value)
    if (problem !== undefined) throw invalid(shown, problem, 'Pass names and values as strings.')
    variables[name] = value
  }
  return variables
}

const argvAdvice = 'Pass the executable and its arguments as plain strings.'

function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return `is ${kindOf(text)}, not a string`
  if (text.includes('\0')) return 'holds a NUL character, which nothing given to a process can'
  // It would arrive as another character.
  return text.isWellFormed() ? undefined : 'holds half of a Unicode character pair'
}

// Not instanceof: a signal may come from another realm.
function isSignal(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'aborted' in value &&
    'addEventListener' in value &&
    typeof value.addEventListener === 'function'
  )
}

function isInput(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Uint8Array) return true
  return (
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  )
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function invalid(argument: string, problem: string, advice: string): SandboxError {
  return new SandboxError('INVALID_INPUT', `${argument} ${problem}. ${advice}`, {
    details: { argument },
    effect: 'none',
  })
}

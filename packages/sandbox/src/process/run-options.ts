import type { CommandAccess } from '../isolation/isolation-policy.ts'
import { type CommandLimits, commandLimits } from '../options/limits.ts'
import type { OptionReader } from '../options/option-reader.ts'
import {
  accepts,
  callback,
  type FieldsOf,
  invalidOption,
  oneOf,
  wholeNumber,
  shownValue,
} from '../options/read-options.ts'
import type { RunOptions } from './run-types.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

const accesses = ['read', 'write'] as const satisfies readonly CommandAccess[]

/** Readers of `limits`, of one command or of a sandbox. */
export const limits: FieldsOf<CommandLimits> = {
  timeoutMs: limit('timeoutMs'),
  maxOutputBytes: limit('maxOutputBytes'),
  processes: limit('processes'),
  memoryMb: limit('memoryMb'),
  fileMb: limit('fileMb'),
  cpuSeconds: limit('cpuSeconds'),
}

/** Readers of the options of `Sandbox.run`. */
export const runOptions: FieldsOf<RunOptions> = {
  ...limits,
  // The guard of files says what is wrong with a path.
  cwd: accepts('a path', (value) => typeof value === 'string'),
  env: variables,
  access: oneOf(accesses),
  mergeOutput: accepts('true or false', (value) => typeof value === 'boolean'),
  checkScript: accepts('true or false', (value) => typeof value === 'boolean'),
  stdin: input,
  signal: accepts('an AbortSignal', isSignal),
  onOutput: callback,
  onDecision: callback,
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
function input(value: unknown, name: string): unknown {
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw invalidArgument(name, halfPair, 'Pass whole characters, or bytes.')
  }
  const isIterable =
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  if (typeof value === 'string' || isIterable) return value
  throw invalidOption(name, value, 'a string, a Uint8Array or an async iterable of Uint8Array')
}

/** Variables by name; those that are undefined are left out, as where `process.env` is spread. */
export function variables(value: unknown, name: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption(name, value, 'an object of strings')
  }
  const read = Object.create(null) as Record<string, string>
  for (const [variable, content] of Object.entries(value) as [string, unknown][]) {
    if (content === undefined) continue
    const shown = `${name}[${JSON.stringify(variable.slice(0, 64))}]`
    if (variable === '' || variable.includes('=')) {
      throw invalidArgument(
        shown,
        'has a name that is empty or holds "="',
        'Pass names without "=".',
      )
    }
    const problem = textProblem(variable) ?? textProblem(content)
    // Never the value, which may be a secret.
    if (problem !== undefined || typeof content !== 'string') {
      throw invalidArgument(shown, problem ?? '', 'Pass names and values as strings.')
    }
    read[variable] = content
  }
  return Object.freeze(read)
}
function limit(name: keyof CommandLimits): OptionReader {
  const { unit, maximum } = commandLimits[name]
  return wholeNumber(unit, maximum)
}

const argumentAdvice = 'Pass the executable and its arguments as plain strings.'

/**
 * Refuses what a caller without types may pass and no process can be given, before anything is started.
 *
 * @throws SandboxError `INVALID_INPUT`, naming the argument
 */
export function checkArguments(command: string, args: readonly string[]): void {
  if (!Array.isArray(args)) {
    throw invalidArgument('args', `is ${shownValue(args)}, not an array`, argumentAdvice)
  }
  for (const [index, argument] of [command, ...args].entries()) {
    const name = index === 0 ? 'command' : `args[${index - 1}]`
    const problem =
      textProblem(argument) ?? (index === 0 && argument.trim() === '' ? 'is empty' : undefined)
    if (problem !== undefined) throw invalidArgument(name, problem, argumentAdvice)
  }
}

/** Why a process cannot take a value as an argument or a variable; undefined when it can. */
function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return `is ${shownValue(text)}, not a string`
  if (text.includes('\0'))
    return 'contains a NUL character, which no argument or variable of a process can'
  return text.isWellFormed() ? undefined : halfPair
}

/** UTF-8 cannot encode it, so the process would receive another character. */
const halfPair = 'contains half of a Unicode character pair'

function invalidArgument(argument: string, problem: string, advice: string): SandboxError {
  return new SandboxError('INVALID_INPUT', `${argument} ${problem}. ${advice}`, {
    details: { option: argument },
    effect: 'none',
  })
}

import { shownValue } from './read-options.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

/** Why a value cannot be an argument or a variable of a process; undefined when it can. */
export function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return `is ${shownValue(text)}, not a string`
  if (text.includes('\0')) return 'holds a NUL character, which nothing given to a process can'
  return text.isWellFormed() ? undefined : halfPair
}

/** It would arrive as another character: what it stands for cannot be said in bytes. */
export const halfPair = 'holds half of a Unicode character pair'

export function invalidArgument(argument: string, problem: string, advice: string): SandboxError {
  return new SandboxError('INVALID_INPUT', `${argument} ${problem}. ${advice}`, {
    details: { option: argument },
    effect: 'none',
  })
}

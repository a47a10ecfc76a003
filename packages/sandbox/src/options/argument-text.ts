import { shownValue } from './read-options.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

/** Why a process cannot take a value as an argument or a variable; undefined when it can. */
export function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return `is ${shownValue(text)}, not a string`
  if (text.includes('\0'))
    return 'contains a NUL character, which no argument or variable of a process can'
  return text.isWellFormed() ? undefined : halfPair
}

/** UTF-8 cannot encode it, so the process would receive another character. */
export const halfPair = 'contains half of a Unicode character pair'

export function invalidArgument(argument: string, problem: string, advice: string): SandboxError {
  return new SandboxError('INVALID_INPUT', `${argument} ${problem}. ${advice}`, {
    details: { option: argument },
    effect: 'none',
  })
}

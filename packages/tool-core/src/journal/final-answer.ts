import type { MaybePromise } from '../async/maybe-promise.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** Says whether a call that may be the final answer is one. */
export type SettleFinalAnswer = (given: boolean) => void

/**
 * Keeps the order of a turn's calls around its final answer. Calls made after it wait until it is known whether it is
 * valid, and do not run when it is; those made before it are not touched.
 */
export class FinalAnswer {
  /** Whether a call made now comes after the final answer; a promise while an earlier call may still be it. */
  given: MaybePromise<boolean> = false

  /** A call is made that is the final answer if it is valid. */
  mayFollow(): SettleFinalAnswer {
    const before = this.given
    if (before === true) return ignore
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const mine = before === false ? promise : Promise.all([before, promise]).then(isAny)
    this.given = mine
    return (given) => {
      resolve(given)
      // Known at once when nothing else is open, so that a turn with a synchronous log waits for no microtask.
      if (this.given === mine && (given || before === false)) this.given = given
    }
  }
}

export function answeredError(toolName: string): SmithersError {
  return new SmithersError(
    'TOOL_ABORTED',
    `Tool "${toolName}" was not run: the task has ended with its final answer. Nothing more is needed.`,
    { details: { toolName }, effect: 'none' },
  )
}

function isAny(given: readonly boolean[]): boolean {
  return given.includes(true)
}

function ignore(): void {}

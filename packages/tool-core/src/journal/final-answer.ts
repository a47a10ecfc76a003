import type { MaybePromise } from '../async/maybe-promise.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** Says whether a call that would end the task does. */
export type SettleFinalAnswer = (ended: boolean) => void

/**
 * Keeps the order of a turn's calls around one that ends the task. Calls made after it wait until it is known whether
 * it is valid, and do not run when it is; those made before it are not touched.
 */
export class FinalAnswer {
  #ended: MaybePromise<boolean> = false

  /** Whether a call made now comes after the end; a promise while an earlier call may still be it. */
  get ended(): MaybePromise<boolean> {
    return this.#ended
  }

  /** A call is made that ends the task if it is valid. */
  mayEnd(): SettleFinalAnswer {
    const before = this.#ended
    if (before === true) return ignore
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#ended = before === false ? promise : Promise.all([before, promise]).then(isAny)
    const mine = this.#ended
    return (ended) => {
      resolve(ended)
      // Known at once when nothing else is open, so that a turn with a synchronous log waits for no microtask.
      if (this.#ended === mine && (ended || before === false)) this.#ended = ended
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

function isAny(ends: readonly boolean[]): boolean {
  return ends.includes(true)
}

function ignore(): void {}

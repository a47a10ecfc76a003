import { timeoutError } from '../journal/call-errors.ts'
import type { CallScope } from './call-scope.ts'

/** How long a call may take. The tool's code may run on afterwards; its row is finished then, so it changes nothing. */
export interface TimeLimit {
  /** Settles as the work does, or fails when time is up. */
  race<Value>(work: PromiseLike<Value>): PromiseLike<Value>
  clear(): void
}

/** Starts the clock of a call whose tool has a time limit. */
export function startTimeLimit({ definition, abort }: CallScope): TimeLimit {
  const { timeoutMs, metadata } = definition
  if (timeoutMs === undefined) return unlimited
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = timeoutError(metadata.name, timeoutMs)
      abort.abort(error)
      reject(error)
    }, timeoutMs)
  })
  // Time may be up while nothing races, between two values of a stream.
  timeout.catch(ignore)
  return {
    race: (work) => Promise.race([work, timeout]),
    clear: () => clearTimeout(timer),
  }
}

const unlimited: TimeLimit = { race: (work) => work, clear: ignore }

function ignore(): void {}

import type { MaybePromise } from '../log/tool-call-log.ts'

/** True for what must be awaited. Awaiting nothing else keeps a call with a synchronous log in one turn. */
export function isThenable<Value>(value: MaybePromise<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** Goes on with a value: at once when it is there, else when it arrives. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return isThenable(value) ? value.then(next) : next(value)
}

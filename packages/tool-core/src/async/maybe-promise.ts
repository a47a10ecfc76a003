/** True for what must be awaited. Awaiting nothing else keeps a call with a synchronous log in one turn. */
export function isThenable<Value>(value: MaybePromise<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** Goes on with a value: at once when it is there, else when it arrives. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  proceed: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return isThenable(value) ? value.then(proceed) : proceed(value)
}

/** Does something that may fail at once or later, and answers either failure. */
export function rescue<Value>(
  attempt: () => MaybePromise<Value>,
  answer: (error: unknown) => MaybePromise<Value>,
): MaybePromise<Value> {
  let value: MaybePromise<Value>
  try {
    value = attempt()
  } catch (error) {
    return answer(error)
  }
  return isThenable(value) ? value.then(undefined, answer) : value
}

/** A value, or a promise of it: an adapter that can answer at once does, and the call waits for no microtask. */
export type MaybePromise<T> = T | PromiseLike<T>

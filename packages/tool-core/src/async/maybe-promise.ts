/** A value, or a promise of it: an adapter that can answer at once does, and the call waits for no microtask. */
export type MaybePromise<T> = T | PromiseLike<T>

/** True for what must be awaited. Awaiting nothing else keeps a call with a synchronous log in one turn. */
export function isThenable<Value>(value: MaybePromise<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/**
 * Work that reads like an async function and waits only for promises: up to the first one, {@link drive} runs it in the
 * caller's turn. Write `yield* settled(value)` for `await value`.
 */
export type Steps<Result> = Generator<PromiseLike<unknown>, Result, unknown>

/** The value itself, or what its promise resolves to. */
export function* settled<Value>(value: MaybePromise<Value>): Steps<Value> {
  return isThenable(value) ? ((yield value) as Value) : value
}

/** Runs work to its end. What it throws before its first promise is thrown at once, anything later rejects. */
export function drive<Result>(steps: Steps<Result>): MaybePromise<Result> {
  const step = steps.next()
  return step.done === true ? step.value : driveOn(steps, step.value)
}

async function driveOn<Result>(steps: Steps<Result>, first: PromiseLike<unknown>): Promise<Result> {
  let awaited = first
  for (;;) {
    const outcome = await awaited.then(fulfilled, rejected)
    const step = outcome.ok ? steps.next(outcome.value) : steps.throw(outcome.error)
    if (step.done === true) return step.value
    awaited = step.value
  }
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown }

function fulfilled(value: unknown): Outcome {
  return { ok: true, value }
}

function rejected(error: unknown): Outcome {
  return { ok: false, error }
}

/** Continues with a value: at once when it is there, else when it arrives. */
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

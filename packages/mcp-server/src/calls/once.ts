/** A function that does its work the first time and returns the same result ever after. */
export function once<Result>(fn: () => Result): () => Result {
  let done: { readonly result: Result } | undefined
  return () => (done ??= { result: fn() }).result
}

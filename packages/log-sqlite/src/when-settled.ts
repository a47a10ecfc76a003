/** Continues with a value: in the same turn unless it is a promise. */
export function whenSettled<Value, Next>(
  value: Value | Promise<Value>,
  proceed: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(proceed) : proceed(value)
}

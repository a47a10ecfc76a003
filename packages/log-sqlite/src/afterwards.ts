/** Goes on with an answer: at once when it is there, else when it arrives. */
export function afterwards<Value, Next>(
  value: Value | Promise<Value>,
  proceed: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(proceed) : proceed(value)
}

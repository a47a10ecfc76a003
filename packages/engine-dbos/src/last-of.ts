/** The output of a tool: of one that streams, the last value, which the AI SDK takes for the output. */
export async function lastOf(output: unknown): Promise<unknown> {
  const given = await output
  if (!isAsyncIterable(given)) return given
  let last: unknown
  for await (const value of given) last = value
  return last
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

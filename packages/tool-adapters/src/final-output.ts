/** The output of a tool that answers once, or the last value of one that streams. */
export async function finalOutput(output: unknown): Promise<unknown> {
  const settled = await output
  if (!isStream(settled)) return settled
  let last: unknown
  for await (const value of settled) last = value
  return last
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Changed arguments, or what is wrong with them. The server checks them against the tool's schema. */
export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

export function readArguments(text: string): ReadArguments {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { ok: false, problem: `The arguments are not valid JSON: ${why}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, problem: 'The arguments must be a JSON object.' }
  }
  // What the log hid or cut would otherwise reach the tool as its placeholder.
  if (text.includes('"[redacted]"') || text.includes('"$truncated"')) {
    return { ok: false, problem: 'Replace what the log hid or cut with the real values.' }
  }
  return { ok: true, value }
}

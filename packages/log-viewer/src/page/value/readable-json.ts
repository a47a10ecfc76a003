/**
 * A value of the log as lines that can be compared: names in order, texts with their own lines. What is no JSON stays as
 * it is.
 */
export function readableJson(json: string): string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return json
  }
  const lines: string[] = []
  // A value that is nested too deeply to be laid out is compared as it is.
  return write(value, '', '', lines, 0) ? lines.join('\n') : json
}

const deepest = 100

function write(
  value: unknown,
  label: string,
  indent: string,
  lines: string[],
  depth: number,
): boolean {
  if (depth > deepest) return false
  const start = `${indent}${label}`
  if (typeof value === 'string' && value.includes('\n')) {
    lines.push(`${start}│`)
    for (const line of value.replace(/\n$/, '').split('\n')) lines.push(`${indent}  ${line}`)
    return true
  }
  if (typeof value !== 'object' || value === null) {
    lines.push(`${start}${typeof value === 'string' ? value : JSON.stringify(value)}`)
    return true
  }
  const isList = Array.isArray(value)
  const entries: [string, unknown][] = isList
    ? value.map((item: unknown, index) => [String(index), item])
    : Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (entries.length === 0) lines.push(`${start}${isList ? '[ ]' : '{ }'}`)
  else if (label !== '') lines.push(start.trimEnd())
  const deeper = label === '' ? indent : `${indent}  `
  return entries.every(([name, item]) => write(item, `${name}: `, deeper, lines, depth + 1))
}

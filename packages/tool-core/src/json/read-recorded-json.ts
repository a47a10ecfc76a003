/** Reads a recorded payload back. Only one that was recorded as exact means what it meant. */
export function readRecordedJson(json: string | null): unknown {
  return json === null ? undefined : untagged(JSON.parse(json))
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(untagged)
  const record = value as Record<string, unknown>
  const [key, ...others] = Object.keys(record)
  if (key !== undefined && others.length === 0) {
    const content = record[key]
    switch (key) {
      case '$date':
        return new Date(content as string)
      case '$bigint':
        return BigInt(content as string)
      case '$num':
        return Number(content)
      case '$undefined':
        return undefined
      case '$map':
        return new Map(
          (content as [unknown, unknown][]).map(([a, b]) => [untagged(a), untagged(b)]),
        )
      case '$set':
        return new Set((content as unknown[]).map(untagged))
      case '$object':
        return untaggedProperties(content as Record<string, unknown>)
    }
  }
  return untaggedProperties(record)
}

function untaggedProperties(record: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, untagged(value)]))
}

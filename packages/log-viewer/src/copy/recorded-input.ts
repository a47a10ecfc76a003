/** Recorded arguments, and what of them cannot be had back. */
export interface RecordedInput {
  /** The arguments as JSON, or the part of them that was recorded. */
  readonly json: string
  /** They were too long, so the record has their beginning alone. */
  readonly cut: boolean
  /** Something of them was hidden or only described. */
  readonly hidden: boolean
  /** They were not recorded at all, or what was recorded cannot be read. */
  readonly missing: boolean
}

/** Says how complete recorded arguments are. */
export function recordedInput(inputJson: string | null): RecordedInput {
  if (inputJson === null) return { json: '{}', cut: false, hidden: false, missing: true }
  const hidden = hiddenParts.test(inputJson)
  let value: unknown
  try {
    value = JSON.parse(inputJson)
  } catch {
    return { json: JSON.stringify(inputJson), cut: false, hidden, missing: true }
  }
  const cut =
    typeof value === 'object' && value !== null && !Array.isArray(value) && '$truncated' in value
  return { json: inputJson, cut, hidden, missing: false }
}

/** What the log writes in place of secrets, of bytes and of what JSON cannot say. */
const hiddenParts = /\[redacted\]|"\$(?:described|sha256|cycle)":|"(?:sha256)":"[0-9a-f]{64}"/

import type { Redaction } from '../json/redaction.ts'
import { recordJson } from '../json/recorded-json.ts'
import { settled, type Steps } from '../async/maybe-promise.ts'
import type { RunStateStore } from '../log/run-state-store.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import { archiveKey, type ArchivedOutput } from '../log/archived-output.ts'

/**
 * Returns what the agent gets of an output: all of it, or its beginning with a note on how to read the rest, which is
 * then in the run's state. The note is only given once the rest is stored, so that it can be kept.
 */
export function* inlineOutput(
  output: unknown,
  options: {
    readonly maxBytes: number
    readonly store: RunStateStore
    readonly row: StartRow
    readonly redact: Redaction
    readonly onLogError: (error: unknown) => void
  },
): Steps<unknown> {
  const { maxBytes, store, row, redact, onLogError } = options
  const text =
    typeof output === 'string' ? redact.hideIn(output) : recordJson(output, redact, Infinity).json
  // A character is at most three bytes of UTF-8, so most outputs need not be measured.
  if (text === null || text.length * 3 <= maxBytes) return output
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return output
  const { runId, callToken, toolName, toolCallId } = row
  const archived: ArchivedOutput = { toolName, toolCallId, text }
  try {
    const stored = yield* settled(
      store.set({
        runId,
        key: archiveKey(callToken),
        version: 1,
        valueJson: JSON.stringify(archived),
        updatedAtMs: Date.now(),
      }),
    )
    return stored ? beginningOf(bytes, maxBytes, callToken) : output
  } catch (error) {
    onLogError(error)
    return output
  }
}

function beginningOf(bytes: Buffer, maxBytes: number, callToken: string): string {
  const note = (hidden: number, shown: number): string =>
    `\n[${hidden} of ${bytes.length} bytes are not shown. Read them with get_tool_response: {"id":"${callToken}","offset":${shown}}]`
  // Neither number has more digits than the length.
  let end = Math.max(0, maxBytes - Buffer.byteLength(note(bytes.length, bytes.length)))
  // Cut between characters.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + note(bytes.length - end, end)
}

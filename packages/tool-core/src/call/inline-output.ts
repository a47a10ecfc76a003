import type { Redaction } from '../json/redaction.ts'
import { characterEnd } from '../json/character-end.ts'
import { recordJson } from '../json/recorded-json.ts'
import { settled, type Steps } from '../async/maybe-promise.ts'
import type { RunStateStore } from '../log/run-state-store.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import { callThatReads } from './reader-of-rest.ts'
import { archiveKey, type ArchivedOutput } from '../log/archived-output.ts'

/** Where a whole text is kept. */
export interface ArchiveOptions {
  readonly store: RunStateStore
  readonly row: StartRow
  /** By the clock of the log. Milliseconds since the epoch. */
  readonly nowMs: number
  readonly onLogError: (error: unknown) => void
}

/**
 * Returns what the agent gets of an output: all of it, or its beginning with a note on how to read the rest, which is
 * then in the run's state. The note is only given once the rest is stored, so that it can be kept.
 */
export function* inlineOutput(
  output: unknown,
  options: ArchiveOptions & {
    readonly maxBytes: number
    readonly redact: Redaction
    readonly responseTool: string | null | undefined
  },
): Steps<unknown> {
  const { maxBytes, redact } = options
  const text =
    typeof output === 'string' ? redact.hideIn(output) : recordJson(output, redact, Infinity).json
  // A character is at most three bytes of UTF-8, so most outputs need not be measured.
  if (text === null || text.length * 3 <= maxBytes) return output
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return output
  const stored = yield* archiveText(text, options)
  // The option is given for that tool; where the tools of the agent are known, they decide.
  const { responseTool = 'get_tool_response' } = options
  return stored ? beginningOf(bytes, maxBytes, options.row.callToken, responseTool) : output
}

/** Keeps a text for `get_tool_response`; false when the log did not take it. */
export function* archiveText(
  text: string,
  { store, row, nowMs, onLogError }: ArchiveOptions,
): Steps<boolean> {
  const { runId, callToken, toolName, toolCallId } = row
  const archived: ArchivedOutput = { toolName, toolCallId, text }
  try {
    return yield* settled(
      store.set({
        runId,
        key: archiveKey(callToken),
        version: 1,
        valueJson: JSON.stringify(archived),
        updatedAtMs: nowMs,
      }),
    )
  } catch (error) {
    onLogError(error)
    return false
  }
}

function beginningOf(
  bytes: Buffer,
  maxBytes: number,
  callToken: string,
  responseTool: string | null,
): string {
  const note = (hidden: number, shown: number): string => {
    const advice = responseTool === null ? '' : ` ${callThatReads(responseTool, callToken, shown)}`
    return `\n[${hidden} of ${bytes.length} bytes are not shown.${advice}]`
  }
  // Neither number has more digits than the length.
  const room = Math.max(0, maxBytes - Buffer.byteLength(note(bytes.length, bytes.length)))
  const end = characterEnd(bytes, room)
  return bytes.toString('utf8', 0, end) + note(bytes.length - end, end)
}

import { recordJson } from '../json/recorded-json.ts'
import type { Redaction } from '../json/redaction.ts'
import { truncatedText } from '../json/truncated-json.ts'

/** Limit of a patch in the log, in bytes. */
const longestPatchBytes = 64 * 1024

/** What is kept of a patch that was cut. Less would say nothing. */
const leastBytes = 256

/**
 * Logged arguments with `$patch`, redacted as every payload, at most 64 KiB and no longer than the limit of the
 * arguments allows. Where nothing would be left of the patch, the arguments stay as they are.
 *
 * @param inputJson An object as JSON.
 * @param patch A text, or what is said in place of it.
 */
export function withPatch(
  inputJson: string,
  patch: unknown,
  redaction: Redaction,
  maxBytes: number,
): string {
  const name = inputJson === '{}' ? '"$patch":' : ',"$patch":'
  const room = Math.min(longestPatchBytes, maxBytes - Buffer.byteLength(inputJson) - name.length)
  if (room < leastBytes) return inputJson
  // Under its name, so that a redaction by path can find it.
  const json = recordJson({ $patch: patch }, redaction, Number.POSITIVE_INFINITY).json ?? '{}'
  const { $patch: shown } = JSON.parse(json) as { readonly $patch?: unknown }
  const whole = JSON.stringify(shown ?? null)
  const kept = Buffer.byteLength(whole) <= room ? whole : truncatedText(String(shown), room)
  return `${inputJson.slice(0, -1)}${name}${kept}}`
}

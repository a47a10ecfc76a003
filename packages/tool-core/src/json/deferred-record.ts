import { type RecordedJson, recordJson } from './recorded-json.ts'
import type { Redaction } from './redaction.ts'

/**
 * A text as the log stores it, made when it is first read.
 *
 * Only for a text that is no longer than `maxBytes` and no part of a longer text: until then the text itself is kept,
 * and with it all of the text that it was cut from. `redaction.replace` must see values while their call runs, so it
 * rules this out.
 */
export class DeferredRecord implements RecordedJson {
  readonly #redaction: Redaction
  readonly #maxBytes: number
  #text: string | undefined
  #recorded: RecordedJson | undefined

  constructor(text: string, redaction: Redaction, maxBytes: number) {
    this.#text = text
    this.#redaction = redaction
    this.#maxBytes = maxBytes
  }

  get json(): string | null {
    return this.#record().json
  }

  get exact(): boolean {
    return this.#record().exact
  }

  #record(): RecordedJson {
    this.#recorded ??= recordJson(this.#text, this.#redaction, this.#maxBytes)
    this.#text = undefined
    return this.#recorded
  }
}

/** Making the JSON of a shorter text costs no more than putting it off. */
const shortestDeferred = 512

/** Whether a text may be a {@link DeferredRecord}, as far as its length and the redaction say. */
export function isDeferrable(
  output: unknown,
  redaction: Redaction,
  maxBytes: number,
): output is string {
  return (
    typeof output === 'string' &&
    output.length >= shortestDeferred &&
    output.length <= maxBytes &&
    redaction.replace === undefined
  )
}

import type { CallEffect } from '../errors/smithers-error.ts'
import type { RecordedJson } from '../json/recorded-json.ts'

/** How a call ended, as its row tells it. */
export type CallOutcome =
  | {
      readonly status: 'success'
      readonly output: RecordedJson
      readonly effect: CallEffect
      readonly replayOf?: string
      readonly fromCache?: boolean
    }
  | { readonly status: 'error'; readonly error: unknown; readonly effect: CallEffect }

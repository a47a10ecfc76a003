import type { FinishPatch } from './tool-call-log.ts'

/** The output of a call as its row holds it. Reading either field makes both. */
export interface DeferredOutput {
  readonly json: string | null
  /** `json` is the whole output. */
  readonly exact: boolean
}

const deferredOutput: unique symbol = Symbol('smithers.deferred-output')

/** A finish whose output becomes JSON when a log reads it: most rows of a log in memory are never read. */
export function withDeferredOutput(
  patch: Omit<FinishPatch, 'outputJson' | 'outputExact'>,
  output: DeferredOutput,
): FinishPatch {
  const { status, errorJson, effect, finishedAtMs, replayOf = null, fromCache = false } = patch
  // Own properties, since a log may copy the patch with a spread.
  return {
    status,
    get outputJson() {
      return output.json
    },
    get outputExact() {
      return output.exact
    },
    errorJson,
    effect,
    finishedAtMs,
    replayOf,
    fromCache,
    [deferredOutput]: output,
  } as FinishPatch
}

/** What {@link withDeferredOutput} was given, for a log that can wait with reading it. */
export function deferredOutputOf(patch: FinishPatch): DeferredOutput | undefined {
  return (patch as { readonly [deferredOutput]?: DeferredOutput })[deferredOutput]
}

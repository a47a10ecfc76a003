import type { ToolTelemetry } from '../contract/telemetry.ts'

const reported = new WeakSet<object>()

/** Calls a method of telemetry. What it throws is reported once for each telemetry, and changes nothing. */
export function watched<Result>(telemetry: ToolTelemetry, fn: () => Result): Result | undefined {
  try {
    return fn()
  } catch (error) {
    report(telemetry, error)
    return undefined
  }
}

/** Runs `work` inside what telemetry makes current; `work` runs once, and its result counts, whatever telemetry does. */
export function runWatched<Result>(
  telemetry: ToolTelemetry,
  run: ((fn: () => void) => unknown) | undefined,
  work: () => Result,
): Result {
  let done: { readonly result: Result } | { readonly error: unknown } | undefined
  const once = (): void => {
    if (done !== undefined) return
    try {
      done = { result: work() }
    } catch (error) {
      done = { error }
    }
  }
  if (run !== undefined) watched(telemetry, () => run(once))
  once()
  const settled = done as unknown as NonNullable<typeof done>
  if ('error' in settled) throw settled.error
  return settled.result
}

function report(telemetry: ToolTelemetry, error: unknown): void {
  if (reported.has(telemetry)) return
  reported.add(telemetry)
  const said = error instanceof Error ? error.message : String(error)
  process.emitWarning(`Telemetry failed: ${said}. Calls are not affected.`, {
    code: 'SMITHERS_TELEMETRY_FAILED',
  })
}

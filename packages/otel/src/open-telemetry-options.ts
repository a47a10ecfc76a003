/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Put the arguments of a call, as the log holds them, on its span (`gen_ai.tool.call.arguments`). @default false */
  readonly recordInputs?: boolean | undefined
  /** Put the output of a call, as the log holds it, on its span (`gen_ai.tool.call.result`). @default false */
  readonly recordOutputs?: boolean | undefined
  /** Put `TRACEPARENT` and `TRACESTATE` into the environment of commands. @default true */
  readonly propagate?: boolean | undefined
}

/** {@link OpenTelemetryOptions}, complete. */
export type TelemetrySettings = {
  readonly [Name in keyof OpenTelemetryOptions]-?: boolean
}

const defaults: TelemetrySettings = Object.freeze({
  recordInputs: false,
  recordOutputs: false,
  propagate: true,
})

/**
 * Completes the options. A value that is only nearly right must not choose what leaves the process.
 *
 * @throws TypeError for an option that does not exist, or is not a boolean
 */
export function completeOptions(options: OpenTelemetryOptions): TelemetrySettings {
  const names = Object.keys(defaults)
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name)) {
      throw new TypeError(
        `openTelemetry has no option "${name}". Its options are ${names.join(', ')}.`,
      )
    }
    if (value !== undefined && typeof value !== 'boolean') {
      throw new TypeError(`${name} of openTelemetry must be true or false, not ${String(value)}.`)
    }
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.freeze({ ...defaults, ...Object.fromEntries(given) })
}

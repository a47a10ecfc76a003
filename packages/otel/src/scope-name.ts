/** The instrumentation scope of all spans and metrics of this package. */
export const scopeName = '@smithers/otel'

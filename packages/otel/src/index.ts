export { openTelemetry } from './open-telemetry.ts'
export type { OpenTelemetryOptions } from './open-telemetry-options.ts'

export { logConformance, runLogConformance } from './run-log-conformance.ts'
export type { ConformanceResult, TestRunner } from './run-log-conformance.ts'
export type {
  DocumentedRow,
  FailureHooks,
  LogConformanceOptions,
  NetworkHooks,
  SchemaHooks,
  ServerAddress,
  Skip,
} from './conformance-options.ts'

import { assertSupportedRuntime } from './errors/supported-runtime.ts'

// The packages that import this one later, with their first call, are refused at their own import.
assertSupportedRuntime()

export type { OptionFields, OptionReader } from './options/option-reader.ts'
export {
  accepts,
  callback,
  fieldsOf,
  type FieldsOf,
  flag,
  listOf,
  oneOf,
  readOptions,
  text,
  wholeNumber,
} from './options/read-options.ts'
export { sandboxOptions } from './sandbox-options.ts'
export { editDistance } from './options/edit-distance.ts'

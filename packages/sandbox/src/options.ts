export type { OptionFields, OptionReader } from './options/option-reader.ts'
export {
  accepts,
  callback,
  type FieldsOf,
  flag,
  listOf,
  oneOf,
  readOptions,
  text,
} from './options/read-options.ts'
export { sandboxOptions } from './sandbox-options.ts'

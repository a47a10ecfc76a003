export {
  accepts,
  callback,
  type FieldsOf,
  flag,
  listOf,
  oneOf,
  type OptionFields,
  type OptionReader,
  readOptions,
  text,
} from './options/read-options.ts'
export { sandboxOptions } from './sandbox-options.ts'

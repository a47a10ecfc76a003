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
} from './read-options.ts'
export { sandboxOptions } from './sandbox-options.ts'

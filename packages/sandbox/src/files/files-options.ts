import type { OptionReader } from '../options/option-reader.ts'
import {
  accepts,
  type FieldsOf,
  listOf,
  oneOf,
  required,
  text,
  wholeNumber,
} from '../options/read-options.ts'
import type { FilePolicy } from './file-policy.ts'
import type { SandboxFilesOptions } from './sandbox-files.ts'

const names = listOf(text)
const protect = wordOrList(['default', 'none'])
const maxLinks = wholeNumber('links', Number.MAX_SAFE_INTEGER)
const durability = oneOf(['fsync', 'relaxed'])

/** Readers of `files` in the options of `createSandbox`. */
export const filePolicyOptions: FieldsOf<FilePolicy> = {
  read: names,
  deny: names,
  protect,
  maxLinks,
  durability,
}

/** Readers of the options of `createSandboxFiles`. */
export const sandboxFilesOptions: FieldsOf<SandboxFilesOptions> = {
  rootDir: required(text),
  deny: names,
  protect,
  maxLinks,
  durability,
  guard: oneOf(['auto', 'beneath', 'checked']),
}

function wordOrList(words: readonly string[]): OptionReader {
  const word = accepts(
    `${words.map((each) => `'${each}'`).join(', ')} or an array of names`,
    (value) => words.includes(value as string),
  )
  return (value, name, all) => (Array.isArray(value) ? names : word)(value, name, all)
}

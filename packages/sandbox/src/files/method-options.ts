import type { OptionFields } from '../options/option-reader.ts'
import { accepts, flag, oneOf, readOptions } from '../options/read-options.ts'

const maxBytes = accepts(
  'a number of bytes, 0 or more',
  (value) => typeof value === 'number' && value >= 0,
)
const line = accepts('a line number', (value) => typeof value === 'number')
const durability = oneOf(['fsync', 'relaxed'])

type Method = 'read' | 'readLines' | 'write' | 'update' | 'open' | 'remove' | 'stat'

const fields: Readonly<Record<Method, OptionFields>> = {
  read: { maxBytes },
  readLines: {
    startLine: line,
    endLine: line,
    maxBytes,
    cut: flag,
    abortSignal: accepts('an AbortSignal', (value) => typeof value === 'object'),
  },
  write: { durability, create: flag },
  update: { maxBytes, durability },
  open: {
    access: oneOf(['read', 'write', 'append', 'read-write']),
    create: accepts("true, false or 'exclusive'", (value) =>
      [true, false, 'exclusive'].includes(value as boolean),
    ),
    truncate: flag,
  },
  remove: { recursive: flag },
  stat: { followLink: flag },
}

const none = Object.freeze({})

/**
 * Reads and checks the options of one method call: a misspelt `create` would otherwise overwrite a file.
 *
 * @throws SandboxError `INVALID_INPUT`
 */
export function methodOptions<Options extends object>(
  method: Method,
  given: Options | undefined,
): Partial<Options> {
  // Most calls have none, and checking an object takes longer than reading a small file.
  if (given === undefined) return none
  return readOptions<Partial<Options>>(given, fields[method] as never)
}

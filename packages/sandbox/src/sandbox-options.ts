import type { SandboxFilesOptions } from './files/sandbox-files.ts'
import type { CommandAccess, IsolationBackendName, IsolationProperty } from './isolation/backend.ts'
import { commandLimits, type CommandLimits } from './options/limits.ts'
import type { EnvironmentOptions } from './process/environment.ts'
import { halfPair, invalidArgument, textProblem } from './options/argument-text.ts'
import {
  accepts,
  callback,
  type FieldsOf,
  fieldsOf,
  invalidOption,
  listOf,
  oneOf,
  type OptionReader,
  required,
  text,
  wholeNumber,
  wordOrFields,
} from './options/read-options.ts'
import type { FilePolicy, RunOptions, SandboxOptions } from './sandbox.ts'

const properties = [
  'files',
  'network',
  'kill',
  'syscalls',
] as const satisfies readonly IsolationProperty[]
const backends = [
  'bubblewrap',
  'seatbelt',
  'none',
] as const satisfies readonly IsolationBackendName[]
const accesses = ['read', 'write'] as const satisfies readonly CommandAccess[]

const names = listOf(text)
const protect = wordOrList(['default', 'none'])
const maxLinks = wholeNumber('links', Number.MAX_SAFE_INTEGER)
const durability = oneOf(['fsync', 'relaxed'])

const files = {
  read: names,
  deny: names,
  protect,
  maxLinks,
  durability,
} satisfies FieldsOf<FilePolicy>

const limits: FieldsOf<CommandLimits> = {
  timeoutMs: limit('timeoutMs'),
  maxOutputBytes: limit('maxOutputBytes'),
  processes: limit('processes'),
  memoryMb: limit('memoryMb'),
  fileMb: limit('fileMb'),
  cpuSeconds: limit('cpuSeconds'),
}

/** Readers of the options of `createSandbox`. */
export const sandboxOptions: FieldsOf<SandboxOptions> = {
  rootDir: required(text),
  files: fieldsOf(files),
  network,
  commands: accepts(
    "'documented', 'strict', 'off' or a function of argv",
    (value) =>
      value === 'documented' ||
      value === 'strict' ||
      value === 'off' ||
      typeof value === 'function',
  ),
  env: fieldsOf({ pass: names, set: variables } satisfies FieldsOf<EnvironmentOptions>),
  limits: fieldsOf(limits),
  isolation: wordOrFields(
    ['auto', 'require', 'none'],
    fieldsOf({ require: required(listOf(oneOf(properties))), backend: oneOf(backends) }),
  ),
  warn: callback,
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

/** Readers of the options of `Sandbox.run`. */
export const runOptions: FieldsOf<RunOptions> = {
  ...limits,
  // The guard of files says what is wrong with a path.
  cwd: accepts('a path', (value) => typeof value === 'string'),
  env: variables,
  access: oneOf(accesses),
  mergeOutput: accepts('true or false', (value) => typeof value === 'boolean'),
  stdin: input,
  signal: accepts('an AbortSignal', isSignal),
  onOutput: callback,
}

function limit(name: keyof CommandLimits): OptionReader {
  const { unit, maximum } = commandLimits[name]
  return wholeNumber(unit, maximum)
}

/** A list of hosts passes: who makes the sandbox answers that it is not possible yet. */
function network(...[value, name, all]: Parameters<OptionReader>): unknown {
  if (value === 'none' || value === 'host') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption(name, value, "'none' or 'host'")
  }
  return hosts(value, name, all)
}
const hosts = fieldsOf({ allow: required(names) })

function wordOrList(words: readonly string[]): OptionReader {
  const word = accepts(
    `${words.map((each) => `'${each}'`).join(', ')} or an array of names`,
    (value) => words.includes(value as string),
  )
  return (value, name, all) => (Array.isArray(value) ? names : word)(value, name, all)
}

/** Variables by name; those that are undefined are left out, as where `process.env` is spread. */
function variables(value: unknown, name: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption(name, value, 'an object of strings')
  }
  const read = Object.create(null) as Record<string, string>
  for (const [variable, content] of Object.entries(value) as [string, unknown][]) {
    if (content === undefined) continue
    const shown = `${name}[${JSON.stringify(variable.slice(0, 64))}]`
    if (variable === '' || variable.includes('=')) {
      throw invalidArgument(
        shown,
        'has a name that is empty or holds "="',
        'Pass names without "=".',
      )
    }
    const problem = textProblem(variable) ?? textProblem(content)
    // Never the value, which may be a secret.
    if (problem !== undefined || typeof content !== 'string') {
      throw invalidArgument(shown, problem ?? '', 'Pass names and values as strings.')
    }
    read[variable] = content
  }
  return Object.freeze(read)
}

function input(value: unknown, name: string): unknown {
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw invalidArgument(name, halfPair, 'Pass whole characters, or bytes.')
  }
  const isIterable =
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  if (typeof value === 'string' || isIterable) return value
  throw invalidOption(name, value, 'a string, a Uint8Array or an async iterable of Uint8Array')
}

// Not instanceof: a signal may come from another realm.
function isSignal(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'aborted' in value &&
    'addEventListener' in value &&
    typeof value.addEventListener === 'function'
  )
}

import type { IsolationBackendName, IsolationProperty } from './isolation/backend.ts'
import type { NetworkLimits, NetworkOptions } from './egress/network-options.ts'
import type { EnvironmentOptions } from './process/environment.ts'
import type { OptionReader } from './options/option-reader.ts'
import {
  accepts,
  callback,
  type FieldsOf,
  fieldsOf,
  flag,
  invalidOption,
  listOf,
  oneOf,
  required,
  text,
  wholeNumber,
  wordOrFields,
} from './options/read-options.ts'
import type { SandboxOptions } from './sandbox.ts'
import { filePolicyOptions } from './files/files-options.ts'
import { limits, variables } from './process/run-options.ts'

const properties = [
  'files',
  'network',
  'kill',
  'syscalls',
] as const satisfies readonly IsolationProperty[]
const backends = [
  'namespaces',
  'bubblewrap',
  'landlock',
  'seatbelt',
  'none',
] as const satisfies readonly IsolationBackendName[]
const names = listOf(text)

/** Readers of the options of `createSandbox`. */
export const sandboxOptions: FieldsOf<SandboxOptions> = {
  rootDir: required(text),
  files: fieldsOf(filePolicyOptions),
  network,
  commands: accepts(
    "'auto', 'basic', 'strict', 'off' or a function of argv",
    (value) =>
      value === 'auto' ||
      value === 'basic' ||
      value === 'strict' ||
      value === 'off' ||
      typeof value === 'function',
  ),
  env: fieldsOf({ pass: names, set: variables } satisfies FieldsOf<EnvironmentOptions>),
  gitIdentity: flag,
  packageCaches: flag,
  limits: fieldsOf(limits),
  isolation: wordOrFields(
    ['auto', 'require', 'none'],
    fieldsOf({ require: required(listOf(oneOf(properties))), backend: oneOf(backends) }),
  ),
  warn: callback,
}

function network(...[value, name, all]: Parameters<OptionReader>): unknown {
  if (value === 'none' || value === 'host') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption(name, value, "'none', 'host' or { allow: [...] }")
  }
  return hosts(value, name, all)
}
const hosts = fieldsOf({
  allow: required(names),
  deny: names,
  onDecision: callback,
  limits: fieldsOf({
    connections: wholeNumber('connections', 256),
    headerMs: wholeNumber('milliseconds', 600_000),
    connectMs: wholeNumber('milliseconds', 600_000),
    idleMs: wholeNumber('milliseconds', 86_400_000),
    headerBytes: wholeNumber('bytes', 1_048_576),
  } satisfies FieldsOf<NetworkLimits>),
} satisfies FieldsOf<NetworkOptions>)

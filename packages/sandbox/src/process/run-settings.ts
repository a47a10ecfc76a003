import type { CommandCheck } from '../command-policy/command-policy.ts'
import type { SandboxFiles } from '../files/sandbox-files.ts'
import type { IsolationBackend } from '../isolation/backend.ts'
import type { HomeDirectories, ShownDirectory } from '../isolation/isolation-policy.ts'
import type { Limitation } from '../isolation/limitation.ts'
import type { Egress } from '../egress/egress.ts'
import type { PathProtection } from '../path-rules/protection.ts'
import type { ResolvedLimits } from '../options/limits.ts'
import type { RunEnforcement } from './run-types.ts'
import type { RunningCommands } from './running-commands.ts'

/** A sandbox as its commands see it: every option resolved. */
export interface RunSettings {
  readonly rootDir: string
  readonly files: SandboxFiles
  readonly commands: RunningCommands
  readonly backend: IsolationBackend
  readonly network: 'none' | 'host'
  /** With `network: 'none'`: the hosts that are reached all the same. */
  readonly egress: Egress | null
  /** Absolute paths outside the root that commands may read. */
  readonly read: readonly string[]
  /** Absolute directories outside the root that commands may change. */
  readonly write: readonly string[]
  /** The home of all commands; `undefined` for one of their own each, or the user's. */
  readonly home: HomeDirectories | undefined
  /** What commands can read under another path. */
  readonly shown: readonly ShownDirectory[]
  /** Globs of what commands may neither read nor change. */
  readonly deny: readonly string[]
  /** Keeps the names that commands may not change. */
  readonly protection: PathProtection
  readonly enforced: Omit<RunEnforcement, 'limits'>
  /** What works less under this backend. */
  readonly limitations: readonly Limitation[]
  readonly env: Readonly<Record<string, string>>
  readonly limits: ResolvedLimits
  /** `null` when nothing is checked: the network is open, or left to isolation. */
  readonly check: CommandCheck | null
  /** Warns once where only the static check keeps commands off the network. */
  readonly warn: () => void
}

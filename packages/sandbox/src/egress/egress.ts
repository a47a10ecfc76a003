import { join } from 'node:path'
import { type CommandProxy, openCommandProxy } from './command-proxy.ts'
import { Judge } from './judge.ts'
import {
  type NetworkOptions,
  type OnNetworkDecision,
  resolveNetworkLimits,
} from './network-options.ts'
import type { NetworkDecision } from './network-record.ts'
import { readRules } from './rules.ts'

/** The network of one sandbox, as far as its rules open it. */
export interface Egress {
  /** Opens the way out for one command; to be closed when the command has ended. */
  open(command?: CommandDecisions): Promise<CommandProxy>
  /** Removes the directory of the sockets, once every command has ended. */
  close(): Promise<void>
}

/** Makes and removes a directory. */
export interface SocketDirectories {
  readonly make: () => string
  readonly remove: (directory: string) => Promise<void>
}

/** How the decisions about one command are made and told. */
export interface CommandDecisions {
  /** @default `onDecision` of the sandbox */
  readonly onDecision?: OnNetworkDecision | undefined
  /** Called with each decision once it is made, and again when a connection that was allowed is refused after all. */
  readonly onRecord?: ((decision: NetworkDecision) => void) | undefined
}

/**
 * Reads the rules of a sandbox.
 *
 * @param directories for sockets, which no command can see
 * @throws SandboxError `INVALID_INPUT` for a rule that is not of a known form
 */
export function createEgress(options: NetworkOptions, directories: SocketDirectories): Egress {
  const limits = resolveNetworkLimits(options.limits)
  const rules = readRules(options.allow, options.deny ?? [])
  const { connectMs } = limits
  let directory: string | undefined
  let commands = 0
  return {
    open({ onDecision = options.onDecision, onRecord } = {}) {
      directory ??= directories.make()
      commands += 1
      return openCommandProxy({
        judge: new Judge({ rules, connectMs, onDecision }),
        limits,
        socketPath: join(directory, `${commands}.sock`),
        onRecord,
      })
    },
    async close() {
      if (directory !== undefined) await directories.remove(directory)
    },
  }
}

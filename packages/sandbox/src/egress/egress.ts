import { join } from 'node:path'
import { type CommandProxy, openCommandProxy } from './command-proxy.ts'
import { Judge } from './judge.ts'
import { type NetworkOptions, resolveNetworkLimits } from './network-options.ts'
import { readRules } from './rules.ts'

/** The network of one sandbox, as far as its rules open it. */
export interface Egress {
  /** Opens the way out for one command; to be closed when the command has ended. */
  open(): Promise<CommandProxy>
}

/**
 * Reads the rules of a sandbox.
 *
 * @param newDirectory makes a directory for sockets that no command can see
 * @throws SandboxError `INVALID_INPUT` for a rule that is not of a known form
 */
export function createEgress(options: NetworkOptions, newDirectory: () => string): Egress {
  const limits = resolveNetworkLimits(options.limits)
  const judge = new Judge({
    rules: readRules(options.allow, options.deny ?? []),
    onDecision: options.onDecision,
    connectMs: limits.connectMs,
  })
  let directory: string | undefined
  let commands = 0
  return {
    open() {
      directory ??= newDirectory()
      commands += 1
      return openCommandProxy({ judge, limits, socketPath: join(directory, `${commands}.sock`) })
    },
  }
}

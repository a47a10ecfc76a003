import type { NetworkAccess } from '@smithers/tool-core'
import { badInput } from '../errors/command-failure.ts'

/** What the command line says of the network. */
export interface NetworkFlags {
  readonly allowNetwork?: true
  readonly allowHost: readonly string[]
  readonly askHosts?: true
}

/** The same as options of a run; neither means that commands reach nothing, or what the run did before. */
export interface NetworkOfFlags {
  readonly allowNetwork?: true
  readonly network?: NetworkAccess
}

/** The options of a run for these flags; none where they say nothing. */
export function networkOptions({
  allowNetwork,
  allowHost,
  askHosts,
}: NetworkFlags): NetworkOfFlags {
  const namesHosts = allowHost.length > 0 || askHosts === true
  if (allowNetwork === true && namesHosts) {
    throw badInput(
      '--allow-network opens every host. Leave it out, or leave out --allow-host and --ask-hosts.',
    )
  }
  if (!namesHosts) return allowNetwork === true ? { allowNetwork } : {}
  return { network: { allow: allowHost, ...(askHosts === true && { onDecision: 'ask' }) } }
}

/** The arguments by which an approval of a host serves every call of its run. */
export const forRun = { remember: 'run' } as const

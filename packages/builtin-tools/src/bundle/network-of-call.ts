import type { SandboxOptions } from '@smithers/sandbox'
import type { OnHostDecision, TaskContext } from '@smithers/tool-core'
import type { BundleOptions } from './bundle-options.ts'

/** What the commands of a call may reach. */
export interface NetworkOfCall {
  /** For the sandbox, which calls of several runs share: without the callback of one. */
  readonly network: NonNullable<SandboxOptions['network']>
  readonly onDecision: OnHostDecision | undefined
}

/** The fields of a context that say what its commands may reach. */
export type NetworkContext = Pick<TaskContext, 'allowNetwork'> &
  Partial<Pick<TaskContext, 'network'>>

/** The bundle's choice where it made one, else the context's. In both, a list of hosts comes before `allowNetwork`. */
export function networkOfCall(context: NetworkContext, bundle: BundleOptions): NetworkOfCall {
  const isFixed = bundle.network !== undefined || bundle.allowNetwork !== undefined
  const { network, allowNetwork = false } = isFixed ? bundle : context
  if (network === undefined) {
    return { network: allowNetwork ? 'host' : 'none', onDecision: undefined }
  }
  const { onDecision, ...rules } = network
  if (onDecision === undefined) return { network: rules, onDecision }
  return {
    // It lets network programs start; each command is given its own.
    network: { ...rules, onDecision: refuseAll },
    onDecision: onDecision === 'ask' ? askAboutOthers : onDecision,
  }
}

/** Whether a command may change something that no `git diff` shows. */
export function opensNetwork(context: NetworkContext, bundle: BundleOptions): boolean {
  return networkOfCall(context, bundle).network !== 'none'
}

/** Part of the key of a sandbox: what {@link networkOfCall} decides, as text. */
export function networkKey(network: NetworkOfCall['network']): string {
  if (typeof network === 'string') return network
  return JSON.stringify({ ...network, onDecision: network.onDecision !== undefined })
}

function refuseAll(): 'deny' {
  return 'deny'
}

/** What the word `'ask'` means as a callback. */
const askAboutOthers: OnHostDecision = ({ reason }) =>
  reason === 'not-allowed' ? 'ask' : undefined

import { type NetworkAccess, SmithersError } from '@smithers/tool-core'
import { checkedContext } from '../task/checked-context.ts'

/** Of a run, what decides about the network. */
export interface NetworkOptions {
  readonly allowNetwork?: boolean | undefined
  readonly network?: NetworkAccess | undefined
}

/** The same as the run's record has it, in JSON. */
export interface RecordedNetworkOptions {
  readonly allowNetwork?: boolean | undefined
  readonly network?: {
    readonly allow: readonly string[]
    readonly deny?: readonly string[]
    /** `'function'`: one that the record cannot hold. */
    readonly onDecision?: 'ask' | 'function'
  }
}

/** What is known of the network of a run when it begins or resumes. */
export interface ChosenNetwork {
  readonly runId: string
  readonly given: NetworkOptions
  /** Undefined for a new run. */
  readonly recorded: RecordedNetworkOptions | undefined
  readonly acceptWiderNetwork: boolean
}

/**
 * The network of a run: as given, else as recorded.
 *
 * *Guarantees*: a resumed run reaches no more than before, unless `acceptWiderNetwork` says so.
 * *Does not protect against* an `onDecision` function that answers otherwise than the earlier one.
 *
 * @throws SmithersError `INVALID_INPUT` for a resume that would reach more, or without the function that decided before
 */
export function networkOfRun(chosen: ChosenNetwork): NetworkOptions {
  const { runId, given, recorded, acceptWiderNetwork } = chosen
  const { network, allowNetwork } = given
  if (network === undefined && allowNetwork === undefined) return inherited(runId, recorded)
  checkedContext({ network, allowNetwork })
  const wider = recorded === undefined ? [] : widerIn(recorded, recordedNetwork(given))
  if (wider.length > 0 && !acceptWiderNetwork) {
    throw refused(
      runId,
      `would reach more than when it began: ${wider.join(', ')}. Leave network and allowNetwork out to resume it as it was, or set acceptWiderNetwork: true.`,
      wider,
    )
  }
  return { network, allowNetwork }
}

function inherited(runId: string, recorded: RecordedNetworkOptions = {}): NetworkOptions {
  const { allowNetwork, network } = recorded
  if (network === undefined) return { allowNetwork, network }
  const { allow, deny, onDecision } = network
  if (onDecision !== 'function') return { allowNetwork, network: { allow, deny, onDecision } }
  throw refused(
    runId,
    'began with a function as network.onDecision, which its record cannot hold. Pass network with it again.',
  )
}

/** The options as JSON can hold them. */
export function recordedNetwork({ allowNetwork, network }: NetworkOptions): RecordedNetworkOptions {
  if (network === undefined) return { allowNetwork }
  const { allow, deny, onDecision } = network
  return {
    allowNetwork,
    network: {
      allow,
      ...(deny === undefined ? {} : { deny }),
      ...(onDecision === undefined
        ? {}
        : { onDecision: typeof onDecision === 'function' ? 'function' : onDecision }),
    },
  }
}

/** What the second reaches and the first does not, as options. */
function widerIn(before: RecordedNetworkOptions, after: RecordedNetworkOptions): string[] {
  if (before.network === undefined && before.allowNetwork === true) return []
  if (after.network === undefined) return after.allowNetwork === true ? ['allowNetwork'] : []
  const { allow, deny = [], onDecision } = after.network
  const earlier = before.network ?? { allow: [] }
  return [
    ...allow
      .filter((rule) => !earlier.allow.some((each) => covers(each, rule)))
      .map((rule) => `allow ${rule}`),
    ...(earlier.deny ?? []).filter((rule) => !deny.includes(rule)).map((rule) => `no deny ${rule}`),
    ...(mayDecideMore(earlier.onDecision, onDecision) ? ['another onDecision'] : []),
  ]
}

/** A question that is no longer asked opens nothing; a function may have refused. */
function mayDecideMore(
  before: 'ask' | 'function' | undefined,
  after: 'ask' | 'function' | undefined,
): boolean {
  return after !== before && !(after === undefined && before === 'ask')
}

/** Whether one rule allows all that another does. */
function covers(wide: string, narrow: string): boolean {
  const [earlier, later] = [partsOf(wide), partsOf(narrow)]
  const isBelow = earlier.host.startsWith('*.') && later.host.endsWith(earlier.host.slice(1))
  const isHost = earlier.host === later.host || isBelow
  return isHost && (earlier.port === later.port || earlier.port === '*')
}

function partsOf(rule: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(rule.toLowerCase()) ?? []
  return { host, port }
}

function refused(runId: string, what: string, wider: readonly string[] = []): SmithersError {
  return new SmithersError('INVALID_INPUT', `Run "${runId}" ${what}`, {
    details: { runId, ...(wider.length > 0 && { wider }) },
    effect: 'none',
  })
}

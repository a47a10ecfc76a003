import { channel } from 'node:diagnostics_channel'
import type { CommandProxy } from '../egress/command-proxy.ts'
import { explainDenial } from '../egress/denial.ts'
import type { NetworkDecision, NetworkUse } from '../egress/network-record.ts'
import type { Violation } from '../path-rules/violation.ts'

/** What a command did on the network, where rules open it. */
export interface CommandNetwork {
  readonly use: NetworkUse
  /** Each refused host once. */
  readonly violations: readonly Violation[]
}

export function networkOf({ record }: CommandProxy): CommandNetwork {
  const violations = record.denials.map((denied): Violation => ({
    rule: 'network.allow',
    subject: `${denied.host}:${denied.port}`,
    message: explainDenial(denied),
  }))
  return { use: record.capture(), violations }
}

/** What the channel `smithers:network-decision` of `node:diagnostics_channel` carries. */
export interface NetworkDecisionEvent {
  readonly rootDir: string
  readonly command: string
  readonly decision: NetworkDecision
}

const decisionChannel = channel('smithers:network-decision')

/** Publishes each decision about one command once it is made; its bytes are not counted yet. */
export function decisionPublisher(
  command: Omit<NetworkDecisionEvent, 'decision'>,
): (decision: NetworkDecision) => void {
  return (decision) => {
    if (!decisionChannel.hasSubscribers) return
    const event: NetworkDecisionEvent = { ...command, decision: { ...decision } }
    decisionChannel.publish(event)
  }
}

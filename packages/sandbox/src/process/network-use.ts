import type { CommandProxy } from '../egress/command-proxy.ts'
import { explainDenial } from '../egress/denial.ts'
import type { NetworkUse } from '../egress/network-record.ts'
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

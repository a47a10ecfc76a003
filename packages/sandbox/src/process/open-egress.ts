import type { Egress } from '../egress/egress.ts'
import type { NetworkOptions } from '../egress/network-options.ts'
import { SandboxError } from '../errors/sandbox-error.ts'
import type { IsolationReport } from '../isolation/backend.ts'
import {
  discardTemporaryDirectory,
  makeTemporaryDirectory,
} from '../isolation/process-directory.ts'

/**
 * Reads the rules of hosts; `null` where there are none. Loads the code for it only then.
 *
 * @throws SandboxError `TOOL_ISOLATION_UNAVAILABLE` under a backend without a network of its own for each command: a caller
 * that allows a few hosts must not get all of them. `INVALID_INPUT` for a rule that is not of a known form
 */
export async function openEgress(
  network: 'none' | 'host' | NetworkOptions,
  { backend, notEnforced }: IsolationReport,
  rootDir: string,
): Promise<Egress | null> {
  if (typeof network !== 'object') return null
  if (backend !== 'namespaces' && backend !== 'bubblewrap') {
    const fix = notEnforced[0]?.fix ?? 'Allow user namespaces, or install bubblewrap.'
    throw new SandboxError(
      'TOOL_ISOLATION_UNAVAILABLE',
      `network: { allow } needs the backend "namespaces" or "bubblewrap", and "${backend}" is what works here. ${fix} Or use network: 'none', or 'host' to allow every connection.`,
      { details: { option: 'network', backend }, effect: 'none' },
    )
  }
  const { createEgress } = await import('../egress/egress.ts')
  return createEgress(network, {
    make: () => makeTemporaryDirectory('egress', rootDir),
    remove: discardTemporaryDirectory,
  })
}

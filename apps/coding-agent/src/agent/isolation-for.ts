import { createSandbox } from '@smithers/sandbox'
import { networkOfHosts } from './asked-tools.ts'
import type { SandboxReport } from '@smithers/sandbox'

/** What the operating system enforces for the commands of an agent under a root. */
export async function isolationFor(
  rootDir: string,
  allowNetwork: boolean,
  allowHosts: readonly string[] = [],
): Promise<SandboxReport> {
  const sandbox = await createSandbox({
    rootDir,
    network: allowNetwork ? 'host' : 'none',
    ...networkOfHosts(allowHosts),
    // The report, which is printed, says the same.
    warn() {},
  })
  sandbox.close()
  return sandbox.report
}

import { createSandbox, type SandboxOptions, type SandboxReport } from '@smithers/sandbox'

/** What the operating system enforces for the commands of an agent under a root. */
export async function isolationFor(
  rootDir: string,
  network: NonNullable<SandboxOptions['network']>,
): Promise<SandboxReport> {
  const sandbox = await createSandbox({
    rootDir,
    network,
    // The report, which is printed, says the same.
    warn() {},
  })
  await sandbox.close()
  return sandbox.report
}

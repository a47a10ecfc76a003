import { createSandbox } from '@smithers/sandbox'
import type { IsolationReport } from '@smithers/sandbox'

/** What the operating system enforces for commands under a root, in one line. */
export async function describeIsolation(rootDir: string, allowNetwork: boolean): Promise<string> {
  const sandbox = await createSandbox({ rootDir, network: allowNetwork ? 'host' : 'none' })
  try {
    return isolationSentence(sandbox.report)
  } finally {
    sandbox.close()
  }
}

/** `bubblewrap (files enforced, network enforced, …)`. */
export function isolationSentence({ backend, enforced }: IsolationReport): string {
  const properties = Object.entries(enforced).map(([what, how]) => `${what} ${how}`)
  return `${backend} (${properties.join(', ')})`
}

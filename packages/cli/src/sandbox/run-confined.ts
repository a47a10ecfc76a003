import {
  createSandbox,
  type OutputChunk,
  type RunResult,
  type Sandbox,
  SandboxError,
} from '@smithers/sandbox'
import { checkedIsolation } from './host-network.ts'
import type { NetworkOfFlags } from './network-flags.ts'

/** One command and how it is confined. */
export interface ConfinedCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly rootDir: string
  readonly network: NetworkOfFlags
  readonly cwd: string | undefined
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
  readonly onOutput: ((chunk: OutputChunk) => void) | undefined
}

/** What came of a command. */
export interface ConfinedRun {
  readonly result: RunResult
  /** Whether connections that it asked for are in the result: only where it has a network of its own. */
  readonly seesNetwork: boolean
}

/**
 * Runs one command in a sandbox of its own. Where commands can have a network of their own, a command without hosts gets
 * an empty list, so that what it asks for is seen.
 *
 * @throws CommandFailure
 */
export async function runConfined(options: ConfinedCommand): Promise<ConfinedRun> {
  const { command, args, cwd, timeoutMs, signal, onOutput } = options
  const { sandbox, seesNetwork } = await sandboxFor(options)
  try {
    const result = await sandbox.run(command, args, { cwd, timeoutMs, signal, onOutput })
    return { result, seesNetwork }
  } finally {
    await sandbox.close()
  }
}

/** The report says the same. */
function warn(): void {}

async function sandboxFor({
  rootDir,
  network,
}: ConfinedCommand): Promise<{ readonly sandbox: Sandbox; readonly seesNetwork: boolean }> {
  if (network.allowNetwork === true) {
    return { sandbox: await createSandbox({ rootDir, network: 'host', warn }), seesNetwork: false }
  }
  if (network.network !== undefined) {
    await checkedIsolation(rootDir, network)
    const { allow } = network.network
    return {
      sandbox: await createSandbox({ rootDir, network: { allow }, warn }),
      seesNetwork: true,
    }
  }
  try {
    const sandbox = await createSandbox({ rootDir, network: { allow: [] }, warn })
    return { sandbox, seesNetwork: true }
  } catch (error) {
    if (!SandboxError.isInstance(error) || error.code !== 'TOOL_ISOLATION_UNAVAILABLE') throw error
    return { sandbox: await createSandbox({ rootDir, network: 'none', warn }), seesNetwork: false }
  }
}

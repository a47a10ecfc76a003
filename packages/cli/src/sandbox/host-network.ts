import { createSandbox, SandboxError, type SandboxReport } from '@smithers/sandbox'
import { badInput, CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { isolationFor } from './isolation-for.ts'
import type { NetworkOfFlags } from './network-flags.ts'

/**
 * What the operating system enforces for the commands of an agent, checked before anything begins.
 *
 * @throws CommandFailure where the hosts are no rules, or commands cannot have a network of their own here
 */
export async function checkedIsolation(
  rootDir: string,
  options: NetworkOfFlags,
): Promise<SandboxReport> {
  const { network, allowNetwork } = options
  try {
    const rules = network && { allow: network.allow }
    return await isolationFor(rootDir, rules ?? (allowNetwork === true ? 'host' : 'none'))
  } catch (error) {
    if (network === undefined || !SandboxError.isInstance(error)) throw error
    if (error.code === 'INVALID_INPUT') {
      throw badInput(error.message.replace(/^network\.allow\[\d+\]/, '--allow-host'), error)
    }
    throw new CommandFailure(exitCodes.failed, error.message, { cause: error })
  }
}

/** Whether commands can be given some hosts and no others, and if not, why and what to do. */
export interface NetworkByHost {
  readonly works: boolean
  readonly why: string | null
}

/** Finds out by starting a command with an empty list. */
export async function networkByHost(rootDir: string): Promise<NetworkByHost> {
  try {
    const sandbox = await createSandbox({ rootDir, network: { allow: [] }, warn() {} })
    try {
      const { status, exitCode, error, output } = await sandbox.run('true')
      const works = status === 'exited' && exitCode === 0
      return { works, why: works ? null : (error?.message ?? `a command failed: ${output.trim()}`) }
    } finally {
      await sandbox.close()
    }
  } catch (error) {
    return { works: false, why: error instanceof Error ? error.message : String(error) }
  }
}

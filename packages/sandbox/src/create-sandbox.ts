import { realpathSync, statSync } from 'node:fs'
import { createSandboxFiles } from './files/sandbox-files.ts'
import { createNoIsolation } from './isolation/none.ts'
import { resolveLimits } from './limits.ts'
import { checkDocumentedPolicy } from './network/documented-policy.ts'
import { commandEnvironment } from './process/environment.ts'
import { confinedRun, type RunSettings } from './process/confined-run.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { SandboxError } from './sandbox-error.ts'

/**
 * Confines files and commands to `rootDir`.
 *
 * @throws SandboxError `INVALID_INPUT` for a root that is not a directory or an option out of range;
 * `TOOL_ISOLATION_UNAVAILABLE` when what `isolation` requires does not hold here
 *
 * @example
 * const sandbox = await createSandbox({ rootDir: '.', network: 'none' })
 * const { output } = await sandbox.run('node', ['--test'])
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const rootDir = canonicalRoot(options.rootDir)
  const network = options.network ?? 'none'
  if (typeof network === 'object') {
    throw new SandboxError(
      'TOOL_ISOLATION_UNAVAILABLE',
      "network: { allow } is not available yet. Use network: 'none', or 'host' to allow every connection.",
      { details: { network }, effect: 'none' },
    )
  }
  const limits = resolveLimits(options.limits ?? {})
  const backend = createNoIsolation()
  const { enforced, notEnforced } = await backend.probe()
  const files = createSandboxFiles({ rootDir, deny: options.files?.deny ?? [] })
  const settings: RunSettings = Object.freeze({
    rootDir,
    files,
    backend,
    policy: {
      network,
      read: options.files?.read ?? [],
      protect: [],
      deny: [],
      limits: { temporaryMb: 1024 },
    },
    enforced: {
      backend: backend.name,
      ...enforced,
      network: network === 'host' ? 'host' : enforced.network,
    },
    env: commandEnvironment(options.env ?? {}),
    limits,
    check: network === 'host' ? null : checkDocumentedPolicy,
  })
  return Object.freeze({
    rootDir,
    files,
    report: Object.freeze({ backend: backend.name, enforced, notEnforced, network }),
    run: (command, args = [], runOptions = {}) => confinedRun(settings, command, args, runOptions),
    explain: () => ({ allowed: true, reason: '' }),
    close: () => files.close(),
  } satisfies Sandbox)
}

function canonicalRoot(rootDir: string): string {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new SandboxError(
      'INVALID_INPUT',
      `rootDir ${JSON.stringify(rootDir)} ${problem}. Pass the directory to confine to.`,
      { details: { rootDir }, cause, effect: 'none' },
    )
  }
  if (typeof rootDir !== 'string' || rootDir === '') return refuse('is not a path')
  try {
    const canonical = realpathSync(rootDir)
    return statSync(canonical).isDirectory() ? canonical : refuse('is not a directory')
  } catch (error) {
    if (SandboxError.isInstance(error)) throw error
    return refuse('cannot be opened', error)
  }
}

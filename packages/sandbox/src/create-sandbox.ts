import type { Sandbox, SandboxOptions } from './sandbox.ts'

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
  // Loaded with the first sandbox: a caller that only confines files does not load backends and the runner.
  const { openSandbox } = await import('./open-sandbox.ts')
  return openSandbox(options)
}

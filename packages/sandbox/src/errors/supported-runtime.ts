import { SandboxError } from './sandbox-error.ts'

/** Runtimes that imitate Node, by the name of their version in `process.versions`. */
const imitations = { bun: 'Bun', deno: 'Deno' } as const

/**
 * Refuses runtimes that imitate Node, before anything is opened or started.
 *
 * The sandbox opens the pipes of commands itself. Under Bun a `net.Socket` on such a descriptor never reads a byte, so
 * each command would seem to have printed nothing; under Deno it fails with EEXIST or EBADF. The attack tests of the
 * guards run on Node alone.
 *
 * @throws SandboxError `RUNTIME_UNSUPPORTED`
 */
export function assertSupportedRuntime(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): void {
  for (const [name, title] of Object.entries(imitations)) {
    const version = versions[name]
    if (version === undefined) continue
    throw new SandboxError(
      'RUNTIME_UNSUPPORTED',
      `@smithers/sandbox, and so builtin-tools and orchestrator, do not run on ${title} (this is ${title} ${version}): ` +
        `the output of commands would be lost. Run this program with Node 22.18 or newer. The packages that start no ` +
        `commands (@smithers/tool-core, log-memory, log-sqlite, workflow, tool-adapters, context-tools) run on ${title}.`,
      { details: { runtime: name, version }, effect: 'none' },
    )
  }
}

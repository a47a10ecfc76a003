import { type ClosableTools, type CodingTools, createBuiltinTools } from '@smithers/builtin-tools'
import type { ServerSettings } from '../options/server-options.ts'

/** A piece of what a command prints. */
export interface PrintedBytes {
  readonly toolCallId: string
  readonly bytes: Uint8Array
}

/** All seven built-in tools, confined as the settings say. `onOutput` sees what commands print while they run. */
export function builtinBundle(
  { rootDir, allowNetwork, isolation, maxOutputBytes, toolTimeoutMs, deny }: ServerSettings,
  onOutput: (printed: PrintedBytes) => void,
): CodingTools & ClosableTools {
  return createBuiltinTools({
    only: ['read', 'write', 'edit', 'replace', 'grep', 'glob', 'bash'],
    rootDir,
    allowNetwork,
    isolation,
    limits: { maxOutputBytes, timeoutMs: toolTimeoutMs },
    ...(deny.length > 0 && { files: { deny } }),
    paging: true,
    strictArguments: true,
    onOutput,
  })
}

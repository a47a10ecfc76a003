import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCallSites } from 'node:util'

/**
 * The directory of the file that called the function which calls this one; null when that is not a file, as in a REPL.
 * S1 and S2 let tools work in "the workflow directory" without the workflow saying where it is.
 */
export function callerDirectory(): string | null {
  // Frame 0 is this function, 1 the function in this package, 2 the file that defines the workflow.
  const script = getCallSites(3)[2]?.scriptName ?? ''
  if (script.startsWith('file:')) return dirname(fileURLToPath(script))
  return script.startsWith('/') || /^[A-Za-z]:[\\/]/.test(script) ? dirname(script) : null
}

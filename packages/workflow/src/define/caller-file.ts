import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { getCallSites } from 'node:util'

/** The file that called the function which calls this one; null when the caller is not a file, as in a REPL. */
export function callerFile(): string | null {
  // Frame 0 is this function, 1 the function in this package, 2 the file that defines the workflow.
  const script = getCallSites(3)[2]?.scriptName ?? ''
  if (script.startsWith('file:')) return fileURLToPath(script)
  if (!script.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(script)) return null
  // Development servers add a query to the path.
  return existsSync(script) ? script : script.replace(/\?.*$/s, '')
}

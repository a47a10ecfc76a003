import { readFileSync, realpathSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { SmithersError } from '@smithers/tool-core'
import { realPath } from './real-path.ts'

/**
 * Refuses a file that decides what the server may do and lies inside the root: the agent could change it.
 *
 * @returns its real path
 * @throws SmithersError `INVALID_INPUT`
 */
export function outsideRoot(option: string, path: string, rootDir: string): string {
  const real = realPath(path)
  const steps = relative(realpathSync(rootDir), real)
  const isOutside = steps === '..' || steps.startsWith(`..${sep}`)
  if (isOutside) return real
  throw wrong(
    `${option} ${path} is inside the root, where the agent could change it. Give a file outside the root.`,
  )
}

/** Reads a secret from a file outside the root, without the line end. @throws SmithersError `INVALID_INPUT` */
export function secretFrom(option: string, path: string, rootDir: string): string {
  const file = outsideRoot(option, path, rootDir)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw wrong(`${option} ${path} cannot be read: ${why}.`)
  }
}

function wrong(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', message, { effect: 'none' })
}

import { readFileSync } from 'node:fs'
import { type LoadFnOutput, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import type { ProgramGuard } from './program-guard.ts'

let current: Pick<ProgramGuard, 'check'> | undefined

/**
 * Lets this process import `.tsx` and `.jsx`, which Node cannot read, with the tags of `@smithers/workflow`. A file in
 * any folder may import the packages of this program, unless its own folder has them. `guard` checks every file before it
 * is executed.
 */
export function registerTsxHooks(guard: Pick<ProgramGuard, 'check'>): void {
  const isRegistered = current !== undefined
  current = guard
  if (isRegistered) return
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        if (!isPackageName(specifier)) throw error
        try {
          return nextResolve(specifier, { ...context, parentURL: import.meta.url })
        } catch {
          // The first error names the user's own file.
          throw error
        }
      }
    },
    load(url, context, nextLoad) {
      if (!url.startsWith('file:')) return nextLoad(url, context)
      const path = fileURLToPath(url)
      return /\.[jt]sx$/.test(path) ? loadTsx(path) : checked(path, nextLoad(url, context))
    },
  })
}

function loadTsx(path: string): LoadFnOutput {
  const source = readFileSync(path, 'utf8')
  current?.check(path, source)
  const { code } = transformSync(source, {
    loader: path.endsWith('.tsx') ? 'tsx' : 'jsx',
    format: 'esm',
    target: 'node22',
    jsx: 'automatic',
    jsxImportSource: '@smithers/workflow',
    sourcefile: path,
    sourcemap: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}

/** The loaded file, with the very source that was checked. */
function checked(path: string, loaded: LoadFnOutput): LoadFnOutput {
  const source = loaded.source ?? readFileSync(path)
  current?.check(path, source instanceof ArrayBuffer ? new Uint8Array(source) : source)
  return { ...loaded, source }
}

function isPackageName(specifier: string): boolean {
  return /^(@[\w.-]+\/)?[\w-][\w.-]*(\/|$)/.test(specifier)
}

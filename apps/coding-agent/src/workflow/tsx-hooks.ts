import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

let registered = false

/**
 * Lets this process import `.tsx` and `.jsx`, which Node does not read by itself, with the tags of
 * `@smithers/workflow`. A file anywhere may import what this program brings, unless its own folder has it.
 */
export function registerTsxHooks(): void {
  if (registered) return
  registered = true
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        if (!isPackageName(specifier)) throw error
        try {
          return nextResolve(specifier, { ...context, parentURL: import.meta.url })
        } catch {
          // The first error names the file that the person wrote.
          throw error
        }
      }
    },
    load(url, context, nextLoad) {
      if (!/^file:.*\.[jt]sx$/.test(url)) return nextLoad(url, context)
      const path = fileURLToPath(url)
      const { code } = transformSync(readFileSync(path, 'utf8'), {
        loader: path.endsWith('.tsx') ? 'tsx' : 'jsx',
        format: 'esm',
        target: 'node22',
        jsx: 'automatic',
        jsxImportSource: '@smithers/workflow',
        sourcefile: path,
        sourcemap: 'inline',
      })
      return { format: 'module', source: code, shortCircuit: true }
    },
  })
}

function isPackageName(specifier: string): boolean {
  return /^(@[\w.-]+\/)?[\w-][\w.-]*(\/|$)/.test(specifier)
}

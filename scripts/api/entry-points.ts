import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What a program can import from a package of this workspace. */
export interface EntryPoint {
  /** What is written in the import, such as `@smithers/tool-core/log`. */
  readonly specifier: string
  /** The source file, relative to the root of the repository. */
  readonly source: string
}

// It only re-exports. The package that is read first has the description of a name, the others refer to it.
const last = 'packages/orchestrator/package.json'

/** Every entry point with types that the packages export, subpaths included. */
export function entryPoints(): readonly EntryPoint[] {
  return [...globSync('packages/*/package.json', { exclude: [last] }).toSorted(), last].flatMap(
    (path) => {
      const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
      return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
        // A subpath without types, such as ./package.json or a pattern, is not part of the API.
        if (typeof target === 'string' || target.types === undefined) return []
        const source = target['@smithers/source']
        if (source === undefined) throw new Error(`${path}: ${subpath} names no source`)
        return [
          {
            specifier: `${manifest.name}${subpath.slice(1)}`,
            source: join(dirname(path), source),
          },
        ]
      })
    },
  )
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Target>>
}

interface Target {
  readonly types?: string
  readonly '@smithers/source'?: string
}

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}
const optional = (name: string): boolean => manifest.peerDependenciesMeta[name]?.optional === true
const installed = new Set([
  ...Object.keys(manifest.dependencies),
  ...Object.keys(manifest.peerDependencies).filter((name) => !optional(name)),
])

/** Every package that a file and the files it imports name, types too: those are in the published declarations. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)
  for (const [, specifier = ''] of imports) {
    if (specifier.startsWith('node:')) continue
    if (specifier.startsWith('.')) {
      for (const each of packagesOf(join(dirname(file), specifier), seen)) packages.add(each)
    } else {
      const [scope = '', name = ''] = specifier.split('/')
      packages.add(scope.startsWith('@') ? `${scope}/${name}` : scope)
    }
  }
  return packages
}

describe('@smithers/tool-adapters', () => {
  it('names no package but those that come with it, so that its types compile without LangChain', () => {
    const named = packagesOf(join(root, 'src/index.ts'))
    expect([...named].filter((name) => !installed.has(name))).toEqual([])
    expect(named).toContain('@smithers/tool-core')
  })

  it('names LangChain in its entry for LangChain, which this test can see', () => {
    expect(packagesOf(join(root, 'src/langchain.ts'))).toContain('@langchain/core')
  })
})

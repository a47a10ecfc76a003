import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Client, emptyProject } from './clients.ts'
import type { LocalRegistry } from './local-registry.ts'

/** What a package's README installs first, and what the program after it imports. */
interface PackageLine {
  readonly packages: readonly string[]
  readonly imports: readonly string[]
}

/**
 * Runs the first install line of every package's README in an empty project, and resolves what the README's first
 * program after it imports: a package that the line forgets is missing there.
 *
 * @param client pnpm, because what a line does not name is not in its `node_modules`
 * @returns the faults, each a sentence
 */
export async function packageLineFaults(
  client: Client,
  registry: LocalRegistry,
  usual: string,
  directory: string,
): Promise<string[]> {
  const faults: string[] = []
  for (const readme of globSync('packages/*/README.md').toSorted()) {
    const line = firstLine(readFileSync(readme, 'utf8'))
    if (line === undefined) {
      faults.push(`${readme} has no line that installs the package.`)
      continue
    }
    const project = join(directory, `lines-${basename(dirname(readme))}`)
    emptyProject(project, registry, usual)
    try {
      await client.add(project, line.packages)
      const program = line.imports.map((each) => `import.meta.resolve('${each}')\n`).join('')
      writeFileSync(join(project, 'program.ts'), program)
      await client.run(project, ['program.ts'])
    } catch (error) {
      const message = String(error)
      const reason = /Cannot find package '[^']+'/.exec(message)?.[0] ?? message
      faults.push(`${readme} installs ${line.packages.join(' ')}: ${reason}`)
    }
  }
  return faults
}

function firstLine(readme: string): PackageLine | undefined {
  const line = /^(?:pnpm add|npm install) (?:-D )?([^#\n]+)$/m.exec(readme)
  if (line === null) return undefined
  const program = /^```tsx?\n(.*?)^```$/ms.exec(readme.slice(line.index))?.[1] ?? ''
  const imports = [...program.matchAll(/\bfrom '([^'.][^']*)'/g)].map(([, name = '']) => name)
  return {
    packages: (line[1] ?? '').trim().split(/ +/),
    imports: [...new Set(imports)].filter((name) => !name.startsWith('node:')),
  }
}

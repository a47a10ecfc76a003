import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { execa } from 'execa'

/** The parts of a `package.json` that installing from tarballs needs. */
export interface Manifest {
  readonly name: string
  readonly description: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** A package of this workspace as it would be published. */
export interface PackedPackage {
  readonly manifest: Manifest
  readonly tarball: string
}

/** Packs every package of this workspace into `destination`. Needs `pnpm build` first. */
export async function packPackages(
  destination: string,
): Promise<ReadonlyMap<string, PackedPackage>> {
  const packed = new Map<string, PackedPackage>()
  for (const path of globSync('packages/*/package.json').toSorted()) {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    const directory = path.replace('/package.json', '')
    packed.set(manifest.name, { manifest, tarball: await pack(directory, destination) })
  }
  return packed
}

async function pack(directory: string, destination: string): Promise<string> {
  const own = join(destination, basename(directory))
  mkdirSync(own, { recursive: true })
  await execa('pnpm', ['pack', '--pack-destination', own], { cwd: directory })
  const [tarball] = globSync(join(own, '*.tgz'))
  if (tarball === undefined) throw new Error(`pnpm pack left no tarball for ${directory}`)
  return tarball
}

/**
 * Copies the tarballs of these packages and of every package of this workspace beneath them into a project, and returns
 * its dependencies on them.
 */
export function tarballDependencies(
  project: string,
  names: readonly string[],
  packed: ReadonlyMap<string, PackedPackage>,
): Record<string, string> {
  const dependencies: Record<string, string> = {}
  for (const name of new Set(names.flatMap((each) => [...withSiblings(each, packed)]))) {
    const tarball = packed.get(name)?.tarball
    if (tarball === undefined) throw new Error(`no tarball of ${name}`)
    cpSync(tarball, join(project, basename(tarball)))
    dependencies[name] = `file:${basename(tarball)}`
  }
  return dependencies
}

/** The package itself and every package of this workspace that it depends on. */
function withSiblings(name: string, packed: ReadonlyMap<string, PackedPackage>): Set<string> {
  const found = new Set([name])
  for (const dependency of Object.keys(packed.get(name)?.manifest.dependencies ?? {})) {
    if (!packed.has(dependency)) continue
    for (const each of withSiblings(dependency, packed)) found.add(each)
  }
  return found
}

/** Entries for users of an optional peer, which an installation alone does not have; and a program, which would run. */
const notImportedAlone = new Set([
  '@smithers/log-conformance/child-process',
  '@smithers/log-conformance/vitest',
  '@smithers/tool-adapters/langchain',
  '@smithers/tool-adapters/smart-agent',
])

/** What a program may import of a package without any optional peer, by the names that a program uses. */
export function entriesOf({ name, exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => name + entry.slice(1))
    .filter((entry) => !notImportedAlone.has(entry))
}

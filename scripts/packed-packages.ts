import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

/** Packs packages of this workspace into `destination`, all of them unless `names` says which. Needs `pnpm build` first. */
export async function packPackages(
  destination: string,
  names?: readonly string[],
): Promise<ReadonlyMap<string, PackedPackage>> {
  const packed = new Map<string, PackedPackage>()
  for (const [directory, manifest] of manifests()) {
    if (names?.includes(manifest.name) === false) continue
    packed.set(manifest.name, { manifest, tarball: await pack(directory, destination) })
  }
  return packed
}

/** The packages of this workspace that are published, by their directories. */
function manifests(): Map<string, Manifest> {
  return new Map(
    globSync('packages/*/package.json')
      .toSorted()
      .map((path) => [dirname(path), JSON.parse(readFileSync(path, 'utf8')) as Manifest]),
  )
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
  for (const name of withSiblings(names)) {
    const tarball = packed.get(name)?.tarball
    if (tarball === undefined) throw new Error(`no tarball of ${name}`)
    cpSync(tarball, join(project, basename(tarball)))
    dependencies[name] = `file:${basename(tarball)}`
  }
  return dependencies
}

/**
 * The packages themselves and every package of this workspace that they depend on.
 *
 * @throws Error for a name that this workspace does not have
 */
export function withSiblings(names: readonly string[]): Set<string> {
  const all = new Map([...manifests().values()].map((manifest) => [manifest.name, manifest]))
  const found = new Set<string>()
  const add = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const dependency of Object.keys(all.get(name)?.dependencies ?? {})) {
      if (all.has(dependency)) add(dependency)
    }
  }
  for (const name of names) {
    if (!all.has(name)) throw new Error(`no package ${name}: ${[...all.keys()].join(', ')}`)
    add(name)
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
  return (
    Object.keys(exports)
      // A pattern is for this repository only.
      .filter((entry) => !entry.endsWith('.json') && !entry.includes('*'))
      .map((entry) => name + entry.slice(1))
      .filter((entry) => !notImportedAlone.has(entry))
  )
}

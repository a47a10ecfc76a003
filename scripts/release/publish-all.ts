import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tarballFaults } from './check-tarball.ts'
import type { LocalRegistry } from './local-registry.ts'
import { copyBuilds, inCopy, packagesWithVersion } from './working-copy.ts'

/**
 * Makes the next release in the copy of the repository, as `pnpm release` does: versions by the changesets, builds,
 * publishes to `registry`.
 *
 * @param isBuilt takes the builds of this checkout, and builds only packages that hold their version
 * @returns how many packages were published
 * @throws Error naming every fault of a published tarball
 */
export async function publishAll(
  copy: string,
  registry: LocalRegistry,
  storage: string,
  isBuilt: boolean,
): Promise<number> {
  await inCopy(copy, 'pnpm', 'changeset', 'version')
  if (isBuilt) {
    copyBuilds(copy)
    for (const name of packagesWithVersion()) {
      await inCopy(copy, 'pnpm', '--filter', `./packages/${name}`, 'build')
    }
  } else {
    await inCopy(copy, 'pnpm', 'build')
  }
  writeFileSync(join(copy, '.npmrc'), registry.npmrc)
  await inCopy(copy, 'pnpm', 'changeset', 'publish', '--no-git-tag')
  return await checkPublished(copy, storage)
}

async function checkPublished(copy: string, storage: string): Promise<number> {
  const packages = globSync('packages/*/package.json', { cwd: copy }).toSorted()
  const faults: string[] = []
  for (const file of packages) {
    const { name } = JSON.parse(readFileSync(join(copy, file), 'utf8')) as { readonly name: string }
    const [tarball] = globSync(join(storage, name, '*.tgz'))
    if (tarball === undefined) faults.push(`${name} was not published.`)
    else {
      const unpacked = join(storage, 'unpacked', name)
      faults.push(...(await tarballFaults(file.replace('/package.json', ''), tarball, unpacked)))
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return packages.length
}

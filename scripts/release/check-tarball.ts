import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import type { Fields } from './package-metadata.ts'
import { relativeLinks } from './readme-links.ts'
import { shippedPages } from './shipped-pages.ts'

const usualFiles = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^CHANGELOG\.md$/,
  /^docs\/[\w/-]+\.md$/,
  /^dist\/[\w/-]+\.(js|js\.map|d\.ts)$/,
]
/** What only these packages have. */
const ownFiles: Readonly<Record<string, readonly RegExp[]>> = {
  'packages/log-conformance': [/^vectors\/[\w-]+\.json$/],
  'packages/log-viewer': [/^dist\/page\/(LICENSES\.txt|page\.css|page\.js)$/],
  'packages/sandbox': [/^bin\/linux-(x64|arm64)\/confine$/],
}

/**
 * Compares what is in a package's tarball with what belongs there: built files and their types, maps that hold their
 * sources, the README, the licence, the changelog, the pages that the README links to, and what `ownFiles` lists. Tests,
 * sources and leftovers are faults, and so is a file that is missing.
 *
 * @param directory of the package, such as `packages/sandbox`
 * @param unpacked an empty directory to unpack the tarball into
 * @returns the faults, each a sentence; none when all is well
 */
export async function tarballFaults(
  directory: string,
  tarball: string,
  unpacked: string,
): Promise<string[]> {
  mkdirSync(unpacked, { recursive: true })
  await execa('tar', ['-xzf', tarball, '-C', unpacked])
  const { stdout } = await execa('tar', ['-tzf', tarball])
  const files = stdout.split('\n').map((path) => path.replace(/^package\//, ''))
  const content = join(unpacked, 'package')
  return [
    ...listFaults(directory, files),
    ...manifestFaults(content, files),
    ...files.flatMap((file) => fileFaults(content, file, files)),
  ].map((fault) => `${directory}: ${fault}`)
}

function listFaults(directory: string, files: readonly string[]): string[] {
  const own = ownFiles[directory] ?? []
  const allowed = [...usualFiles, ...own]
  const wanted = ['README.md', 'LICENSE', ...shippedPages(directory).values()]
  if (existsSync(join(directory, 'CHANGELOG.md'))) wanted.push('CHANGELOG.md')
  return [
    ...files
      .filter((file) => !allowed.some((pattern) => pattern.test(file)))
      .map(
        (file) =>
          `the tarball has ${file}, which no pattern of scripts/release/check-tarball.ts expects.`,
      ),
    ...wanted.filter((file) => !files.includes(file)).map((file) => `the tarball lacks ${file}.`),
    ...own
      .filter((pattern) => !files.some((file) => pattern.test(file)))
      .map((pattern) => `the tarball has nothing like ${pattern.source}.`),
  ]
}

function manifestFaults(content: string, files: readonly string[]): string[] {
  const manifest = readFileSync(join(content, 'package.json'), 'utf8')
  const { exports, bin = {} } = JSON.parse(manifest) as {
    readonly exports: Fields
    readonly bin?: Readonly<Record<string, string>>
  }
  return [
    ...['workspace:', 'catalog:', '@smithers/source']
      .filter((word) => manifest.includes(word))
      .map((word) => `its published package.json says "${word}".`),
    ...[...targetsOf(exports), ...Object.values(bin)]
      .filter((target) => !target.includes('*') && !files.includes(join(target)))
      .map((target) => `${target} is an entry, and no file of the tarball.`),
  ]
}

function fileFaults(content: string, file: string, files: readonly string[]): string[] {
  if (!/\.(js|map|md)$/.test(file)) return []
  const text = readFileSync(join(content, file), 'utf8')
  const isThere = (target: string): boolean => files.includes(join(file, '..', target))
  if (file.endsWith('.md')) {
    return relativeLinks(text)
      .filter((link) => !isThere(link.split('#')[0] ?? ''))
      .map((link) => `${file} links to ${link}, which the tarball lacks.`)
  }
  if (file.endsWith('.js')) {
    const map = /^\/\/# sourceMappingURL=(\S+)$/m.exec(text)?.[1]
    return map === undefined || isThere(map) ? [] : [`${file} has a map, which the tarball lacks.`]
  }
  const { sources, sourcesContent } = JSON.parse(text) as {
    readonly sources: readonly string[]
    readonly sourcesContent?: readonly (string | null)[]
  }
  const hasAll = sources.every((_, index) => typeof sourcesContent?.[index] === 'string')
  return hasAll ? [] : [`${file} names sources that it does not hold.`]
}

function targetsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(targetsOf) : []
}

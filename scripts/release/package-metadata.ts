import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A parsed `package.json`, in the order of its fields. */
export type Fields = Readonly<Record<string, unknown>>

interface RootMetadata {
  readonly author: string
  readonly engines: Readonly<Record<string, string>>
  readonly keywords: readonly string[]
  readonly license: string
  readonly repository: { readonly type: string; readonly url: string }
}

/** What the root `package.json` says for all packages: the one place of these fields. */
const rootMetadata: RootMetadata = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
)

/** The address of the repository's pages, without the `git+` and `.git` of the field. */
export const repositoryUrl: string = rootMetadata.repository.url.replace(/^git\+|\.git$/g, '')

/** The directories of the packages that a release publishes. */
export function publishedDirectories(): string[] {
  return globSync('packages/*/package.json').map(dirname).toSorted()
}

/** `fields` with what the root decides, each field where `package.json` files usually have it. */
export function withMetadata(fields: Fields, directory: string): Fields {
  const { name, version, description, keywords, ...rest } = fields
  const own = Array.isArray(keywords) ? keywords.map(String) : []
  const { author, engines, license, repository } = rootMetadata
  return {
    name,
    version,
    description,
    // A package adds its own words to those of all. Sorted, as the formatter has them.
    keywords: [...new Set([...rootMetadata.keywords, ...own])].toSorted(),
    homepage: `${repositoryUrl}/tree/main/${directory}#readme`,
    bugs: { url: `${repositoryUrl}/issues` },
    license,
    author,
    repository: { ...repository, directory },
    ...Object.fromEntries(Object.entries(rest).filter(([field]) => !decided.has(field))),
    engines,
  }
}

const decided: ReadonlySet<string> = new Set([
  'homepage',
  'bugs',
  'license',
  'author',
  'repository',
  'engines',
])

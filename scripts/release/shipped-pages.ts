import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { repositoryLinks } from './readme-links.ts'

/**
 * The Markdown pages of this repository that a package's README links to, each with its place in the package: all below
 * `docs/`. READMEs of other packages are not among them: those packages ship theirs.
 */
export function shippedPages(directory: string): ReadonlyMap<string, string> {
  const readme = readFileSync(join(directory, 'README.md'), 'utf8')
  const pages = new Map<string, string>()
  for (const { path } of repositoryLinks(readme)) {
    if (!path.endsWith('.md') || path.startsWith('packages/') || !existsSync(path)) continue
    const below = path.startsWith('docs/') ? relative('docs', path) : basename(path)
    pages.set(path, join('docs', below))
  }
  return pages
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the repository. */
export const repository: string = join(import.meta.dirname, '../../..')

/** Where the pages are written for Astro to read. */
export const content: string = join(import.meta.dirname, '../src/content/docs')

const { repository: source } = JSON.parse(
  readFileSync(join(repository, 'package.json'), 'utf8'),
) as { readonly repository: { readonly url: string } }

/** The address of the repository, without a slash at its end. */
export const repositoryUrl: string = source.url.replace(/^git\+|\.git$/gu, '')

const [, owner, name] = new URL(repositoryUrl).pathname.split('/')

/** Where the site will be read: `DOCS_SITE`, or the pages of the repository's owner. */
export const siteUrl: URL = new URL(
  process.env['DOCS_SITE'] ?? `https://${owner}.github.io/${name}`,
)

/** The path of the site on its host, with a slash at both ends. */
export const base: string = siteUrl.pathname.endsWith('/')
  ? siteUrl.pathname
  : `${siteUrl.pathname}/`

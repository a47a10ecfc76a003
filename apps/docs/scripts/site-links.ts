import { posix } from 'node:path'
import type { SourcePage } from './page-list.ts'
import { base, repositoryUrl } from './site.ts'

/** Turns links of files in the repository into links of the site. */
export interface SiteLinks {
  /** The link of a page, as it must be written on the site. @throws Error where it leads to no file */
  readonly link: (url: string, fromFile: string) => string
}

/** What links need to know. */
export interface SiteLinksOptions {
  readonly pages: readonly SourcePage[]
  readonly exists: (file: string) => boolean
}

/** Links among `pages` lead to the site, links to other files to the repository. */
export function createSiteLinks({ pages, exists }: SiteLinksOptions): SiteLinks {
  const slugs = new Map(pages.map(({ file, slug }) => [file, slug]))
  return {
    link(url, fromFile) {
      if (/^(?:[a-z]+:|#|\/)/iu.test(url)) return localised(url)
      const [path = '', anchor] = decodeURI(url).split('#')
      const file = posix.normalize(posix.join(posix.dirname(fromFile), path)).replace(/\/$/u, '')
      const hash = anchor === undefined ? '' : `#${anchor}`
      // Each code has a page of its own on the site.
      if (file === 'docs/errors.md')
        return `${base}errors/${anchor === undefined ? '' : `${anchor}/`}`
      const slug = slugs.get(file) ?? slugs.get(posix.join(file, 'README.md'))
      if (slug !== undefined) return `${base}${slug}/${hash}`
      if (file === 'docs/README.md' || file === 'docs') return base
      if (!exists(file)) throw new Error(`${fromFile} links to ${url}, which does not exist.`)
      return `${repositoryUrl}/blob/main/${file}${hash}`
    },
  }

  /** An absolute link to a file of the repository, as READMEs of packages have them, stays on the site. */
  function localised(url: string): string {
    const [, file = '', hash = ''] =
      /^(?:blob|tree)\/main\/([^#]*)(#.*)?$/u.exec(url.slice(repositoryUrl.length + 1)) ?? []
    if (!url.startsWith(`${repositoryUrl}/`) || file === '') return url
    const path = file.replace(/\/$/u, '')
    if (path === 'docs/errors.md') return `${base}errors/${hash === '' ? '' : `${hash.slice(1)}/`}`
    const slug = slugs.get(path) ?? slugs.get(posix.join(path, 'README.md'))
    return slug === undefined ? url : `${base}${slug}/${hash}`
  }
}

/** Writes every page that Astro builds, from the pages of the repository and what `apps/docs/api` has. */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { errorPages } from './error-pages.ts'
import { inRepository, type SourcePage, sourcePages } from './page-list.ts'
import { createSiteLinks } from './site-links.ts'
import { type FrontMatter, sitePage } from './site-page.ts'
import { base, content, repository, repositoryUrl } from './site.ts'

const images = join(import.meta.dirname, '../public/images')
const home = join(import.meta.dirname, '../src/home.mdx')
const demo = join(import.meta.dirname, '../src/demo.ansi')

const sources = sourcePages()
const references = referencePages()
const links = createSiteLinks({ pages: [...sources, ...references], exists: inRepository })

rmSync(images, { recursive: true, force: true })
rmSync(content, { recursive: true, force: true })
// Without the pictures of the site itself.
cpSync(join(repository, 'docs/images'), images, {
  recursive: true,
  filter: (path) => !path.endsWith('docs/images/site'),
})

for (const [order, page] of sources.entries()) {
  writePage(page, {
    editUrl: `${repositoryUrl}/edit/main/${page.file}`,
    sidebar: { order: order + 1, ...(page.label === undefined ? {} : { label: page.label }) },
  })
}
for (const [order, page] of references.entries()) {
  writePage(page, {
    editUrl: false,
    sidebar: { order: order + 1, ...(page.label === undefined ? {} : { label: page.label }) },
    tableOfContents: { maxHeadingLevel: 3 },
  })
}
for (const { slug, text } of errorPages(readFileSync(join(repository, 'docs/errors.md'), 'utf8'))) {
  write(slug, text)
}
writeHome()
console.log(`${sources.length + references.length} pages collected, and one for each error code.`)

/** The first page is written for the site; its links begin at the site's base, wherever that is. */
function writeHome(): void {
  const text = readFileSync(home, 'utf8')
    .replaceAll(/(\]\(|link: )\//gu, `$1${base}`)
    .replace('{/* demo */}', () => {
      return `\`\`\`ansi frame="terminal" title="npm start"\n${readFileSync(demo, 'utf8').trim()}\n\`\`\``
    })
  writeFileSync(join(content, 'index.mdx'), text)
}

/** What `pnpm docs:api` and its siblings have written. */
function referencePages(): readonly SourcePage[] {
  return globSync('apps/docs/api/**/*.md', { cwd: repository })
    .toSorted()
    .map((file) => {
      const path = posix.relative('apps/docs/api', file).replace(/\.md$/u, '')
      const slug = path
        .toLowerCase()
        .replace(/^@smithers\//u, 'api/')
        .replace(/\/?index$/u, '')
      if (!path.startsWith('@')) return { file, slug: `reference/${slug === '' ? 'api' : slug}` }
      const label = path.replace(/\/index$/u, '').replace(/^@smithers\//u, '')
      return { file, slug: `reference/${slug}`, label }
    })
}

function writePage({ file, slug }: SourcePage, front: Omit<FrontMatter, 'title'>): void {
  const source = readFileSync(join(repository, file), 'utf8')
  write(
    slug,
    sitePage(source, {
      link: (url) => links.link(anchored(url, file), file),
      image: (url) => imageLink(url, file),
      front,
    }),
  )
}

/** TypeDoc numbers some anchors as if their heading came twice. */
function anchored(url: string, file: string): string {
  const [, path = '', anchor = ''] = /^([^#]*)#(\w+)-1$/u.exec(url) ?? []
  if (!file.startsWith('apps/docs/api/') || anchor === '') return url
  const target = path === '' ? file : posix.join(posix.dirname(file), path)
  const text = readFileSync(join(repository, target), 'utf8')
  const headings = text.match(new RegExp(`^#+ ${anchor}(?:\\(\\))?$`, 'gimu')) ?? []
  return headings.length > 1 ? url : `${path}#${anchor}`
}

function write(slug: string, text: string): void {
  const path = join(content, `${slug}.md`)
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) throw new Error(`Two pages have the place ${slug}.`)
  writeFileSync(path, text)
}

function imageLink(url: string, file: string): string {
  // READMEs of packages show pictures of the repository by their full address.
  const own = `${repositoryUrl}/raw/main/`
  if (url.startsWith(own)) return imageLink(url.slice(own.length), 'README.md')
  const path = posix.normalize(posix.join(posix.dirname(file), url))
  const inImages = posix.relative('docs/images', path)
  if (/^[a-z]+:/u.test(url) || inImages.startsWith('..')) return url
  if (!inRepository(path)) throw new Error(`${file} shows ${basename(url)}, which does not exist.`)
  return `${base}images/${inImages}`
}

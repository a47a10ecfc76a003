import { toString } from 'mdast-util-to-string'
import type { Nodes, Paragraph, Root } from 'mdast'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { visit } from 'unist-util-visit'

const markdown = unified()
  .use(remarkParse)
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkStringify, { bullet: '-', rule: '-', emphasis: '_' })

/** What Starlight reads at the top of a page. */
export interface FrontMatter {
  readonly title: string
  readonly description?: string | undefined
  readonly editUrl?: string | false
  readonly sidebar?: { readonly order?: number; readonly label?: string }
  readonly tableOfContents?: { readonly maxHeadingLevel: number }
  readonly [key: string]: unknown
}

/** How a page of the repository becomes a page of the site. */
export interface SitePageOptions {
  readonly link: (url: string) => string
  readonly image: (url: string) => string
  readonly front?: Omit<FrontMatter, 'title'>
}

/**
 * A page of the site from the Markdown of the repository: its first heading becomes the title, its first paragraph the
 * description, and links and images are rewritten.
 */
export function sitePage(source: string, { link, image, front = {} }: SitePageOptions): string {
  const tree = markdown.parse(source)
  const heading = tree.children.findIndex((node) => node.type === 'heading' && node.depth === 1)
  const title = tree.children[heading]
  if (title === undefined) throw new Error(`A page without a title: ${source.slice(0, 80)}`)
  tree.children.splice(heading, 1)
  const description = firstSentences(tree)
  visit(tree, (node: Nodes) => {
    if (node.type === 'link' || node.type === 'definition') node.url = link(node.url)
    if (node.type === 'image') node.url = image(node.url)
    // Comments steer programs that write into the page.
    if (node.type === 'html' && /^<!--.*-->$/su.test(node.value.trim())) node.value = ''
  })
  return pageOf({ title: toString(title), description, ...front }, markdown.stringify(tree))
}

/** The text of a page with its front matter, which is YAML: JSON is, too. */
export function pageOf(front: FrontMatter, body: string): string {
  const lines = Object.entries(front)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\n\n${body.trim()}\n`
}

function firstSentences(tree: Root): string | undefined {
  const paragraph = tree.children.find((node): node is Paragraph => node.type === 'paragraph')
  if (paragraph === undefined) return undefined
  const text = toString(paragraph).replaceAll(/\s+/gu, ' ')
  if (text.length <= 160) return text
  const end = text.lastIndexOf('. ', 160)
  return end > 40 ? text.slice(0, end + 1) : `${text.slice(0, text.lastIndexOf(' ', 157))} …`
}

import { existsSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { repositoryUrl } from './package-metadata.ts'

/** A link of a page to this repository. */
export interface RepositoryLink {
  readonly target: string
  /** The file or directory that it names, from the root of the repository. */
  readonly path: string
}

const link = /\]\(([^()\s]+)\)/g

/** The links of a page that lead to files of this repository by their address. */
export function repositoryLinks(text: string): RepositoryLink[] {
  return [...text.matchAll(link)].flatMap(([, target = '']) => {
    const path = pathOf(target)
    return path === undefined ? [] : [{ target, path }]
  })
}

/** The links of a page that only work beside it: neither addresses nor places in the page itself. */
export function relativeLinks(text: string): string[] {
  return [...text.matchAll(link)].flatMap(([, target = '']) =>
    /^([a-z]+:|#)/.test(target) ? [] : [target],
  )
}

/** The address of a file or directory of this repository. */
function addressOf(path: string, fragment = ''): string {
  const kind = /\.(png|svg)$/.test(path) ? 'raw' : /\.[a-z]+$/.test(path) ? 'blob' : 'tree'
  return `${repositoryUrl}/${kind}/main/${path}${fragment}`
}

/** The same page with every relative link replaced, by `replace` where it returns something, else by its address. */
export function withAbsoluteLinks(
  text: string,
  directory: string,
  replace: (path: string, fragment: string) => string | undefined = () => undefined,
): string {
  return text.replaceAll(link, (whole, target: string) => {
    if (/^([a-z]+:|#)/.test(target)) return whole
    const [path = '', fragment] = target.split('#')
    const full = normalize(join(directory, path)).replace(/[/\\]$/, '')
    const hash = fragment === undefined ? '' : `#${fragment}`
    return `](${replace(full, hash) ?? addressOf(full, hash)})`
  })
}

/** Whether the repository has what the link names. */
export function exists({ path }: RepositoryLink): boolean {
  return existsSync(path)
}

function pathOf(target: string): string | undefined {
  const rest = target.startsWith(`${repositoryUrl}/`)
    ? target.slice(repositoryUrl.length + 1)
    : undefined
  return rest === undefined
    ? undefined
    : /^(?:blob|tree|raw)\/main\/([^#?]+)/.exec(rest)?.[1]?.replace(/\/$/, '')
}

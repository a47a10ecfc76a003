import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from './site.ts'

/** A page of the repository and its place on the site. */
export interface SourcePage {
  /** The file, relative to the root of the repository. */
  readonly file: string
  /** The path of the page below the site's base, without slashes around it. */
  readonly slug: string
  /** In the sidebar, where the heading of the page is too long. */
  readonly label?: string
}

/** Pages in the order of the sidebar; a folder takes its files in the order of their names. */
const places: readonly (readonly [slug: string, pattern: string, label?: string])[] = [
  ['start/first-run', 'docs/guides/start.md'],
  ['start/getting-started', 'README.md', 'The packages'],
  ['start', 'docs/glossary.md'],
  ['start', 'docs/runtimes.md'],
  ['guides', 'docs/guides/*.md'],
  ['guides', 'docs/engines.md'],
  ['tools', 'docs/tools/*.md'],
  ['tools', 'docs/failures.md'],
  ['tools', 'docs/coding-tools.md', 'Measured on real diffs'],
  ['security/threat-model', 'THREAT_MODEL.md'],
  ['security', 'docs/isolation.md'],
  ['security', 'docs/network.md', 'Network by host'],
  ['security', 'docs/native.md'],
  ['security/report', 'SECURITY.md', 'Report a vulnerability'],
  ['reference/packages', 'packages/*/README.md'],
  ['reference/specification', 'docs/specification/*.md'],
  ['reference/command-line-json', 'docs/command-line-json.md', 'What --json prints'],
  ['reference/observability', 'docs/observability.md', 'Traces and metrics'],
  ['architecture', 'docs/architecture.md'],
  ['architecture', 'docs/one-call.md'],
  ['architecture', 'docs/one-command.md'],
  ['architecture', 'docs/several-machines.md'],
  ['architecture/decisions', 'docs/decisions/*.md'],
  ['benchmarks', 'docs/benchmarks.md'],
  ['benchmarks', 'docs/sandbox-cost.md'],
  ['benchmarks', 'docs/growth.md'],
  ['comparison', 'docs/comparison.md'],
  ['comparison', 'docs/coming-from.md'],
  ['project/contributing', 'CONTRIBUTING.md'],
  ['project/working-here', 'AGENTS.md', 'Working in this repository'],
  ['project/recipes', 'apps/recipes/README.md', 'Recipes'],
  ['project/coding-agent', 'apps/coding-agent/README.md', 'The example app'],
  // A new page shows up here until it has a place above.
  ['project', 'docs/*.md'],
]

/** Every page of the repository that the site shows. docs/README.md is the index of the repository, not of the site. */
export function sourcePages(): readonly SourcePage[] {
  const pages = new Map<string, SourcePage>()
  for (const [place, pattern, label] of places) {
    for (const file of globSync(pattern, { cwd: repository }).toSorted()) {
      if (pages.has(file) || file === 'docs/README.md' || file === 'docs/errors.md') continue
      const named = label === undefined ? {} : { label }
      pages.set(file, { file, slug: slugOf(place, pattern, file), ...named })
    }
  }
  return [...pages.values()]
}

function slugOf(place: string, pattern: string, file: string): string {
  if (pattern === 'packages/*/README.md') return `${place}/${file.split('/')[1]}`
  // A place that names a page, not a folder.
  if (!pattern.startsWith('docs/') || place.endsWith(basename(file, '.md'))) return place
  if (place === 'start/first-run') return place
  const name = basename(file, '.md').toLowerCase()
  return name === 'readme' ? place : `${place}/${name}`
}

/** Whether a file or folder exists in the repository. */
export function inRepository(path: string): boolean {
  return existsSync(join(repository, path))
}

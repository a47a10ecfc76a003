import { join } from 'node:path'
import type { ConfiguredUrl } from './rule-of-url.ts'
import type { OutsideSources } from './outside-sources.ts'

/** The lines of a file without comments, with what continues a line joined to it. */
function lines(text: string): readonly string[] {
  const joined = text
    .replace(/\r/g, '')
    .replace(/^\s*[#;].*\n?/gm, '')
    .replace(/\n[ \t]+(?=\S)/g, ' ')
  return joined.split('\n')
}

/** What pip reads of the user and the system; not the file of a virtual environment, which is part of a project. */
export async function pipUrls(sources: OutsideSources): Promise<readonly ConfiguredUrl[]> {
  const files = [
    '/etc/xdg/pip/pip.conf',
    '/etc/pip.conf',
    join(sources.home, '.pip', 'pip.conf'),
    join(sources.configHome, 'pip', 'pip.conf'),
  ]
  return files.flatMap((from) =>
    lines(sources.read(from) ?? '').flatMap((line) => {
      const [, setting = '', value = ''] =
        /^\s*((?:extra[-_])?index[-_]url)\s*[=:]\s*(.*)$/.exec(line) ?? []
      return value.split(/\s+/).flatMap((url) => (url === '' ? [] : [{ url, from, setting }]))
    }),
  )
}

/** One line for each archive in `*.list`, a paragraph in `*.sources`. */
export async function aptUrls(
  sources: OutsideSources,
  aptDirectory = '/etc/apt',
): Promise<readonly ConfiguredUrl[]> {
  const parts = join(aptDirectory, 'sources.list.d')
  const found: ConfiguredUrl[] = []
  for (const from of [join(aptDirectory, 'sources.list'), ...sources.list(parts, '.list')]) {
    for (const line of lines(sources.read(from) ?? '')) {
      const url = /^\s*deb(?:-src)?\s+(?:\[[^\]]*\]\s*)?(\S+)/.exec(line)?.[1]
      if (url !== undefined) found.push({ url, from, setting: 'deb' })
    }
  }
  for (const from of sources.list(parts, '.sources')) {
    for (const paragraph of lines(sources.read(from) ?? '')
      .join('\n')
      .split(/\n\s*\n/)) {
      if (/^enabled:\s*(?:no|false|0)\s*$/im.test(paragraph)) continue
      const urls = /^uris:\s*(.*)$/im.exec(paragraph)?.[1]?.split(/\s+/) ?? []
      for (const url of urls) if (url !== '') found.push({ url, from, setting: 'URIs' })
    }
  }
  return found
}

/** `registry = "…"` and `index = "…"`, also in inline tables. */
export async function cargoUrls(sources: OutsideSources): Promise<readonly ConfiguredUrl[]> {
  const files = ['config.toml', 'config'].map((name) => join(sources.home, '.cargo', name))
  return files.flatMap((from) =>
    lines(sources.read(from) ?? '').flatMap((line) => {
      const found = line.matchAll(/(?:^|[\s{,.])(registry|index)\s*=\s*(["'])([^"']+)\2/g)
      // A registry may also be the name of another section.
      return [...found].flatMap(([, setting = '', , url = '']) =>
        url.includes(':') ? [{ url, from, setting }] : [],
      )
    }),
  )
}

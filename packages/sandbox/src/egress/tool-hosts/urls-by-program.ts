import { join } from 'node:path'
import type { ConfiguredUrl } from './rule-of-url.ts'
import type { OutsideSources } from './outside-sources.ts'

/** npm tells its own default, and which files it read. Those of the project do not exist where it runs. */
export async function npmUrls(sources: OutsideSources): Promise<readonly ConfiguredUrl[]> {
  const first = await npmSettings(sources, [])
  const refused = ['userconfig', 'globalconfig'].filter((name) => {
    const file = first[name]
    const isInside = typeof file === 'string' && sources.isInside(file)
    if (isInside) sources.skip(file, 'it lies in the root')
    return isInside
  })
  const settings =
    refused.length === 0
      ? first
      : await npmSettings(
          sources,
          refused.map((name) => `--${name}=/dev/null`),
        )
  return Object.entries(settings).flatMap(([setting, url]) =>
    /^(?:@[^:]+:)?registry$/.test(setting) && typeof url === 'string'
      ? [{ url, from: 'npm config', setting }]
      : [],
  )
}

async function npmSettings(
  sources: OutsideSources,
  options: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const printed = await sources.ask('npm', ['config', 'list', '--json', ...options])
  try {
    return JSON.parse(printed ?? '{}') as Record<string, unknown>
  } catch {
    sources.skip('npm', 'its answer is not JSON')
    return {}
  }
}

/** Sections whose names are URLs, and remotes that the user configured for all repositories. */
export async function gitUrls(sources: OutsideSources): Promise<readonly ConfiguredUrl[]> {
  const found: ConfiguredUrl[] = []
  for (const scope of ['--system', '--global']) {
    const printed = await sources.ask(
      'git',
      ['config', scope, '--includes', '--list', '-z', '--show-origin'],
      {
        XDG_CONFIG_HOME: sources.configHome,
      },
    )
    const fields = (printed ?? '').split('\0')
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [from = '', entry = ''] = [fields[at]?.replace(/^file:/, ''), fields[at + 1]]
      const [setting = '', value = ''] = entry.split('\n', 2)
      const url = urlIn(setting, value)
      if (url === null) continue
      if (sources.isInside(from)) sources.skip(from, 'it lies in the root')
      else found.push({ url, from, setting: settingName(setting) })
    }
  }
  return found
}

function urlIn(setting: string, value: string): string | null {
  const [, section = '', name = '', key = ''] = /^([^.]+)\.(.*)\.([^.]+)$/s.exec(setting) ?? []
  if (section === 'remote' && (key === 'url' || key === 'pushurl')) return value
  const namesUrl = section === 'url' || section === 'credential' || section === 'http'
  return namesUrl && !name.includes('*') ? name : null
}

/** Without the URL in it, which may have a password. */
function settingName(setting: string): string {
  return setting.replace(/\..*\./s, '.*.')
}

/** go tells its own defaults. */
export async function goUrls(sources: OutsideSources): Promise<readonly ConfiguredUrl[]> {
  const file = join(sources.configHome, 'go', 'env')
  const isInside = sources.isInside(file)
  if (isInside) sources.skip(file, 'it lies in the root')
  const printed = await sources.ask('go', ['env', 'GOPROXY', 'GOSUMDB'], {
    XDG_CONFIG_HOME: sources.configHome,
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GOFLAGS: '-mod=mod',
    ...(isInside ? { GOENV: 'off' } : {}),
  })
  const [proxies = '', database = ''] = (printed ?? '').split('\n')
  const words = proxies.split(/[,|]/).map((word) => word.trim())
  const urls = words.filter((word) => word !== '' && word !== 'off' && word !== 'direct')
  // Its name, with a key and a URL of its own where there are any.
  const [name = '', own] = database.trim().split(/\s+/)
  const host = name.split('+')[0] ?? ''
  const sum = host === '' || host === 'off' ? [] : [own ?? `https://${host}`]
  return [
    ...urls.map((url) => ({ url, from: 'go env', setting: 'GOPROXY' })),
    ...sum.map((url) => ({ url, from: 'go env', setting: 'GOSUMDB' })),
  ]
}

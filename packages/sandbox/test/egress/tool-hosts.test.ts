import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hostsOf, SandboxError } from '@smithers/sandbox'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { OutsideSources } from '../../src/egress/tool-hosts/outside-sources.ts'
import { ruleOfUrl } from '../../src/egress/tool-hosts/rule-of-url.ts'
import { aptUrls } from '../../src/egress/tool-hosts/urls-in-files.ts'
import { readRules } from '../../src/egress/rules.ts'

let directory: string
let home: string
let rootDir: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-hosts-')))
  ;[home, rootDir] = [join(directory, 'home'), join(directory, 'root')]
  for (const each of [home, rootDir]) mkdirSync(each)
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true })
})

function put(path: string, contents: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
}

const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

describe('a rule of a URL', () => {
  test.each([
    ['https://registry.example.com/npm/', 'registry.example.com'],
    ['http://registry.example.com', 'registry.example.com'],
    ['https://registry.example.com:8443/', 'registry.example.com:8443'],
    ['https://user:secret@Registry.example.com/x', 'registry.example.com'],
    ['sparse+https://index.example.com/', 'index.example.com'],
    ['git@git.example.com:group/project.git', 'git.example.com:22'],
    ['ssh://git@Git.example.com:2222/x', 'git.example.com:2222'],
    ['git+ssh://git@git.example.com/x', 'git.example.com:22'],
    ['git://git.example.com/x', 'git.example.com:9418'],
    ['http://192.0.2.7:4873', '192.0.2.7:4873'],
    ['https://[2001:db8::1]/', '[2001:db8::1]'],
  ])('of %s is %s', (url, rule) => {
    expect(ruleOfUrl(url)?.rule).toBe(rule)
    expect(ruleOfUrl(url)?.url).not.toMatch(/secret|@|group/)
    expect(() => readRules([rule], [])).not.toThrow()
  })

  test.each([
    'file:///srv/mirror',
    '/srv/mirror',
    '../mirror',
    'cdrom:[Debian]/',
    'off',
    'https://',
  ])('does not exist for %s', (url) => {
    expect(ruleOfUrl(url)).toBeNull()
  })
})

describe('hosts of', () => {
  test('pip are those of the user and of the system', async () => {
    const file = join(home, '.config/pip/pip.conf')
    put(
      file,
      '[global]\n# index-url = https://commented.example.com\nindex-url = https://u:secret@pypi.example.com/simple\nextra-index-url =\n    https://one.example.com/simple\n    https://two.example.com:8443/simple\n',
    )
    const found = await hostsOf.pip({ rootDir })
    expect(found.allow).toEqual(
      expect.arrayContaining(['pypi.example.com', 'one.example.com', 'two.example.com:8443']),
    )
    expect(found.sources).toContainEqual({
      rule: 'pypi.example.com',
      url: 'https://pypi.example.com',
      from: file,
      setting: 'index-url',
    })
    expect(JSON.stringify(found)).not.toMatch(/secret|commented/)
  })

  test('cargo are its registries and sources', async () => {
    put(
      join(home, '.cargo/config.toml'),
      '[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+https://crates.example.com/index/"\n[registries]\nown = { index = "https://own.example.com/git" }\n[install]\nroot = "https://not.example.com"\n',
    )
    expect((await hostsOf.cargo({ rootDir })).allow).toEqual([
      'crates.example.com',
      'own.example.com',
    ])
  })

  test('apt are in both forms of its lists', async () => {
    const apt = join(directory, 'apt')
    put(
      join(apt, 'sources.list'),
      '# deb https://commented.example.com/ x main\ndeb [arch=amd64 signed-by=/k] https://one.example.com/debian stable main\ndeb-src http://two.example.com:3142/debian stable main\ndeb cdrom:[Disc]/ stable main\n',
    )
    put(
      join(apt, 'sources.list.d/a.sources'),
      'Types: deb\nURIs: https://three.example.com/debian\n https://four.example.com/debian\nSuites: stable\n\nTypes: deb\nEnabled: no\nURIs: https://five.example.com/\n',
    )
    put(join(apt, 'sources.list.d/a.list.save'), 'deb https://old.example.com/ x main\n')
    const found = await aptUrls(new OutsideSources(rootDir), apt)
    expect(found.flatMap(({ url }) => ruleOfUrl(url)?.rule ?? [])).toEqual([
      'one.example.com',
      'two.example.com:3142',
      'three.example.com',
      'four.example.com',
    ])
    // The system's own lists, whatever they name.
    const { allow, sources } = await hostsOf.apt({ rootDir })
    expect(allow).toEqual([...new Set(sources.map(({ rule }) => rule))])
    expect(sources.filter(({ from }) => !from.startsWith('/etc/apt/'))).toEqual([])
  })

  test.runIf(isInstalled('git'))('git are the URLs of its configuration', async () => {
    put(
      join(home, '.gitconfig'),
      '[url "https://u:secret@mirror.example.com/"]\n\tinsteadOf = https://github.example.com/\n[credential "https://login.example.com"]\n\thelper = store\n[http "https://*.wild.example.com"]\n\tsslVerify = true\n[remote "backup"]\n\turl = git@backup.example.com:all.git\n[include]\n\tpath = more\n',
    )
    put(join(home, 'more'), '[http "https://more.example.com:8443/"]\n\tpostBuffer = 1\n')
    const found = await hostsOf.git({ rootDir })
    expect(found.allow).toEqual(
      expect.arrayContaining([
        'mirror.example.com',
        'login.example.com',
        'backup.example.com:22',
        'more.example.com:8443',
      ]),
    )
    expect(JSON.stringify(found)).not.toMatch(/secret|wild|github/)
  })

  test.runIf(isInstalled('npm'))(
    'npm are its registries, with the default that it tells',
    async () => {
      const defaults = await hostsOf.npm({ rootDir })
      expect(defaults.sources).toMatchObject([{ from: 'npm config', setting: 'registry' }])
      put(
        join(home, '.npmrc'),
        'registry=https://npm.example.com/\n@own:registry=https://own.example.com:4873/\n//npm.example.com/:_authToken=secret\n',
      )
      const found = await hostsOf.npm({ rootDir })
      expect(found.allow.toSorted()).toEqual(['npm.example.com', 'own.example.com:4873'])
      expect(JSON.stringify(found)).not.toContain('secret')
    },
  )

  test('go are its proxies and its checksum database', async () => {
    const programs = join(directory, 'bin')
    put(
      join(programs, 'go'),
      '#!/bin/sh\n[ "$1 $2 $3" = "env GOPROXY GOSUMDB" ] || exit 1\necho "https://proxy.example.com|https://second.example.com,direct"\necho "sum.example.com+0d+key https://sums.example.com"\n',
    )
    chmodSync(join(programs, 'go'), 0o755)
    vi.stubEnv('PATH', `${programs}:/usr/bin:/bin`)
    expect((await hostsOf.go({ rootDir })).allow).toEqual([
      'proxy.example.com',
      'second.example.com',
      'sums.example.com',
    ])
  })

  test('a tool that is not installed, or has no configuration, are none', async () => {
    vi.stubEnv('PATH', join(directory, 'nothing'))
    for (const tool of ['npm', 'git', 'go'] as const) {
      const { allow, skipped } = await hostsOf[tool]({ rootDir })
      expect(allow).toEqual([])
      expect(skipped).toContainEqual({ from: tool, why: 'it is not installed outside the root' })
    }
    expect((await hostsOf.cargo({ rootDir })).allow).toEqual([])
  })

  test('a root that does not exist are an error', async () => {
    const failure = await hostsOf.pip({ rootDir: join(directory, 'none') }).catch((error) => error)
    expect(SandboxError.isInstance(failure)).toBe(true)
    expect(failure).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('Pass the rootDir'),
    })
  })
})

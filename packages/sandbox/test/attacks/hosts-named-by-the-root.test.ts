import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { hostsOf } from '@smithers/sandbox'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

type Tool = keyof typeof hostsOf

/** Where each tool's user configuration lies, from home, and what a command writes into it. */
const planted: readonly (readonly [Tool, string, string])[] = [
  ['npm', '.npmrc', 'registry=https://evil.test/\n'],
  ['pip', '.config/pip/pip.conf', '[global]\nindex-url = https://evil.test/simple\n'],
  ['git', '.gitconfig', '[url "https://evil.test/"]\n\tinsteadOf = https://good.test/\n'],
  ['cargo', '.cargo/config.toml', '[source.x]\nregistry = "https://evil.test/"\n'],
]
const canRun = (tool: Tool): boolean =>
  (tool !== 'npm' && tool !== 'git') || spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0

let directory: string
let rootDir: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-planted-')))
  rootDir = join(directory, 'root')
  mkdirSync(rootDir)
  vi.stubEnv('HOME', directory)
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

describe.each(planted.filter(([tool]) => canRun(tool)))(
  'configuration of %s',
  (tool, name, text) => {
    const hosts = async (): Promise<readonly string[]> => (await hostsOf[tool]({ rootDir })).allow

    test('counts outside the root, which is the control', async () => {
      put(join(directory, name), text)
      expect(await hosts()).toContain('evil.test')
    })

    test('does not count in a home that is the root', async () => {
      vi.stubEnv('HOME', rootDir)
      put(join(rootDir, name), text)
      expect(await hosts()).not.toContain('evil.test')
    })

    test('does not count in a home that a link leads into the root', async () => {
      symlinkSync(rootDir, join(directory, 'link'))
      vi.stubEnv('HOME', join(directory, 'link'))
      put(join(rootDir, name), text)
      expect(await hosts()).not.toContain('evil.test')
    })

    test('does not count as a link into the root', async () => {
      put(join(rootDir, 'planted'), text)
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      symlinkSync(join(rootDir, 'planted'), join(directory, name))
      const { allow, skipped } = await hostsOf[tool]({ rootDir })
      expect(allow).not.toContain('evil.test')
      expect(skipped.map(({ why }) => why)).toContain('it lies in the root')
    })

    test('does not count where Node runs in the root, also by the variables that scripts get', async () => {
      put(join(rootDir, name), text)
      put(join(rootDir, '.cargo/config.toml'), text)
      vi.stubEnv('npm_config_registry', 'https://evil.test/')
      vi.stubEnv('NPM_CONFIG_USERCONFIG', join(rootDir, name))
      vi.stubEnv('PIP_INDEX_URL', 'https://evil.test/')
      vi.stubEnv('GIT_CONFIG_GLOBAL', join(rootDir, name))
      vi.stubEnv('CARGO_HOME', join(rootDir, '.cargo'))
      vi.spyOn(process, 'cwd').mockReturnValue(rootDir)
      expect(await hosts()).not.toContain('evil.test')
    })
  },
)

test('a file of the root that the configuration of git includes does not count', async () => {
  put(join(directory, '.gitconfig'), `[include]\n\tpath = ${rootDir}/included\n`)
  put(join(rootDir, 'included'), '[url "https://evil.test/"]\n\tinsteadOf = x\n')
  const { allow, skipped } = await hostsOf.git({ rootDir })
  expect(allow).not.toContain('evil.test')
  expect(skipped).toContainEqual({
    from: join(rootDir, 'included'),
    why: 'it lies in the root',
  })
})

test.each(['npm', 'git', 'go'] as const)(
  'a program named %s in the root, or behind a link to it, is not started',
  async (tool) => {
    const program = join(rootDir, 'node_modules/.bin', tool)
    put(program, `#!/bin/sh\ntouch ${directory}/started\necho https://evil.test\n`)
    chmodSync(program, 0o755)
    mkdirSync(join(directory, 'bin'))
    symlinkSync(program, join(directory, 'bin', tool))
    const path = [dirname(program), join(directory, 'bin')].join(delimiter)
    vi.stubEnv('PATH', path)
    await hostsOf[tool]({ rootDir })
    const isStarted = (): boolean => existsSync(join(directory, 'started'))
    expect(isStarted()).toBe(false)
    // The control: it would be found, and leave a trace.
    spawnSync('/bin/sh', ['-c', tool], { env: { PATH: `${path}:/usr/bin:/bin` } })
    expect(isStarted()).toBe(true)
  },
)

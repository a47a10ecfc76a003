import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toolchainDirectories } from '../../../src/isolation/bubblewrap/toolchains.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-tools-')))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function search(
  path: readonly string[],
  directories: readonly string[],
  visible = ['/usr'],
): string[] {
  for (const directory of directories) mkdirSync(join(home, directory), { recursive: true })
  const absolute = path.map((entry) => (entry.startsWith('/') ? entry : join(home, entry)))
  const found = toolchainDirectories({
    path: absolute.join(':'),
    home,
    visible,
    rootDir: join(home, 'work'),
  })
  return found.map((directory) => directory.replace(`${home}/`, '')).toSorted()
}

describe('toolchainDirectories', () => {
  test.each([
    ['.nvm/versions/node/v24.1.0/bin', ['.nvm/versions/node/v24.1.0']],
    ['.pyenv/shims', ['.pyenv']],
    ['.pyenv/versions/3.11.7/bin', ['.pyenv']],
    ['.volta/bin', ['.volta']],
    ['.bun/bin', ['.bun']],
    ['.local/share/mise/shims', ['.local/share/mise']],
    ['.npm/_npx/0123/node_modules/.bin', ['.npm/_npx/0123/node_modules']],
    ['miniconda3/envs/x/bin', ['miniconda3']],
    ['bin', ['bin']],
    ['tools/scripts', ['tools/scripts']],
  ])('mounts for %s the directory that its programs need', (entry, expected) => {
    expect(search([entry], [entry])).toEqual(expected)
  })

  test('takes of an installation its conventional parts, and nothing beside them', () => {
    const parts = ['sdk/bin', 'sdk/lib', 'sdk/include', 'sdk/share', 'sdk/secrets', 'sdk/.config']
    expect(search(['sdk/bin'], parts)).toEqual(['sdk/bin', 'sdk/include', 'sdk/lib', 'sdk/share'])
  })

  test("leaves out cargo's credentials and the data of ~/.local", () => {
    const directories = ['.cargo/bin', '.cargo/registry', '.cargo/private', '.rustup']
    expect(search(['.cargo/bin'], directories)).toEqual([
      '.cargo/bin',
      '.cargo/registry',
      '.rustup',
    ])
    const local = ['.local/bin', '.local/lib', '.local/share/keyrings', '.local/state']
    expect(search(['.local/bin'], local)).toEqual(['.local/bin', '.local/lib'])
  })

  test('never shows the home directory, one above it, or the whole disk', () => {
    mkdirSync(join(home, 'lib'))
    mkdirSync(join(home, 'bin'))
    expect(search([home, join(home, '..'), '/', '/home', join(home, 'bin')], [])).toEqual([
      'bin',
      'lib',
    ])
  })

  test('mounts a linked entry under both of its names', () => {
    mkdirSync(join(home, 'versions/v1/bin'), { recursive: true })
    mkdirSync(join(home, 'versions/v1/lib'))
    symlinkSync('versions/v1', join(home, 'current'))
    expect(search(['current/bin'], [])).toEqual([
      'current/bin',
      'current/lib',
      'versions/v1/bin',
      'versions/v1/lib',
    ])
  })

  test('skips relative, missing and already visible entries', () => {
    const path = `bin:./node_modules/.bin::${home}/missing/bin:${home}/root/node_modules/.bin:/usr/local/bin`
    mkdirSync(join(home, 'root/node_modules/.bin'), { recursive: true })
    const rootDir = join(home, 'root')
    expect(toolchainDirectories({ path, home, rootDir, visible: ['/usr', rootDir] })).toEqual([])
  })
})

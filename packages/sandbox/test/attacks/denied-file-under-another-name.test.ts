import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

const denied = expect.objectContaining({ code: 'TOOL_PATH_DENIED' })
const deny = ['**/.env', '**/*.pem', 'private']

function workspace() {
  return createWorkspace(
    { '.env': 'KEY', 'a/.env': 'KEY', 'a/key.pem': 'KEY', 'private/deep/f': 'KEY', 'a/f': 'text' },
    { deny },
  )
}

describe('a denied file', () => {
  it('is refused under every spelling of its path', async () => {
    const { root, files } = workspace()
    symlinkSync('.env', join(root, 'link'))
    symlinkSync('../private', join(root, 'a/link'))
    const spellings = ['.env', './/.env', 'a/../.env', 'a/.env', 'link', join(root, '.env')]
    for (const path of [...spellings, 'a/key.pem', 'private/deep/f', 'a/link/deep/f', 'private']) {
      await expect(files.stat(path), path).rejects.toThrow(denied)
      await expect(files.read(path), path).rejects.toThrow(denied)
      await expect(files.write(path, 'x'), path).rejects.toThrow(denied)
      await expect(files.open(path, { access: 'write', create: true }), path).rejects.toThrow(
        denied,
      )
    }
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('KEY')
    await expect(files.read('.env')).rejects.toThrow('the deny rule "**/.env"')
  })

  it('is neither listed nor walked to', async () => {
    const { files } = workspace()
    const found: string[] = []
    for await (const { path } of files.walk()) found.push(path)
    expect(found).toEqual(['a', 'a/f'])
    expect((await files.list('a')).map(({ name }) => name)).toEqual(['f'])
  })

  it('is not carried out of its rule with the directory it is in', async () => {
    const { root, files } = createWorkspace(
      { 'a/secrets/f': 'KEY', 'b/g': '' },
      { deny: ['a/secrets'] },
    )
    await expect(files.rename('a', 'moved')).rejects.toThrow(denied)
    await expect(files.remove('a', { recursive: true })).rejects.toThrow(denied)
    await files.rename('b', 'moved')
    expect(existsSync(join(root, 'a/secrets/f'))).toBe(true)
  })

  it('cannot be created, and leaves no directories behind', async () => {
    const { root, files } = workspace()
    await expect(files.write('new/deep/.env', 'x')).rejects.toThrow(denied)
    await expect(files.mkdir('private/more')).rejects.toThrow(denied)
    await expect(files.rename('a/f', 'a/other.pem')).rejects.toThrow(denied)
    expect(existsSync(join(root, 'new'))).toBe(false)
  })
})

describe('a protected name', () => {
  it('can be read and not changed, by itself or with a directory', async () => {
    const { root, files } = createWorkspace({
      '.git/config': '[core]',
      '.git/hooks/x': '',
      '.npmrc': '',
    })
    expect(await files.readText('.git/config')).toBe('[core]')
    for (const path of [
      '.git/config',
      '.git/hooks/pre-commit',
      '.npmrc',
      '.github/workflows/ci.yml',
    ]) {
      await expect(files.write(path, 'x'), path).rejects.toThrow(denied)
    }
    await expect(files.remove('.git/hooks', { recursive: true })).rejects.toThrow(denied)
    await expect(files.remove('.git', { recursive: true })).rejects.toThrow(denied)
    await expect(files.rename('.git', 'git')).rejects.toThrow(denied)
    await expect(files.chmod('.npmrc', 0o777)).rejects.toThrow('is protected')
    await files.write('.git/info/exclude', 'allowed')
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('[core]')
    expect(existsSync(join(root, '.github'))).toBe(false)
  })

  it('cannot be made by moving a prepared directory into its place', async () => {
    const { root, files } = createWorkspace({ 'prepared/hooks/pre-commit': 'evil' })
    await expect(files.rename('prepared', '.git')).rejects.toThrow(denied)
    mkdirSync(join(root, '.git'))
    await expect(files.rename('prepared/hooks', '.git/hooks')).rejects.toThrow(denied)
    expect(existsSync(join(root, '.git/hooks'))).toBe(false)
  })

  it('is reached by no link', async () => {
    const { root, files } = createWorkspace({ '.git/config': '[core]' })
    symlinkSync('.git', join(root, 'innocent'))
    await expect(files.write('innocent/config', 'x')).rejects.toThrow(denied)
    await expect(files.write('innocent/hooks/pre-commit', 'x')).rejects.toThrow(denied)
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('[core]')
  })

  it('is what the option says', async () => {
    const { root, files } = createWorkspace({}, { protect: ['dist/'] })
    await files.write('.npmrc', 'x')
    await expect(files.write('dist/x', '')).rejects.toThrow(denied)
    await files.write('distance', '')
    writeFileSync(join(root, 'f'), '')
    const open = createWorkspace({}, { protect: 'none' })
    await open.files.write('.git/hooks/x', 'x')
    expect(readFileSync(join(open.root, '.git/hooks/x'), 'utf8')).toBe('x')
  })
})

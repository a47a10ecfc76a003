import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { describeIsolations, mountsProtectedNames, newSandbox } from '../fixtures/sandboxes.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const denied = expect.objectContaining({ code: 'TOOL_PATH_DENIED' })

function linkUp(root: string): void {
  for (const name of ['conf', 'hooks', '.git']) mkdirSync(join(root, name))
  writeFileSync(join(root, 'conf/npmrc'), 'honest')
  writeFileSync(join(root, 'hooks/pre-commit'), 'honest')
  symlinkSync('conf/npmrc', join(root, '.npmrc'))
  symlinkSync('../hooks', join(root, '.git/hooks'))
  symlinkSync('conf/later', join(root, '.bashrc'))
}

describeIsolations('a protected name that is a link', (isolation) => {
  test('protects what it points to', async () => {
    const sandbox = await newSandbox({ isolation })
    linkUp(sandbox.rootDir)
    const { violations } = await sandbox.run('sh', [
      '-c',
      'echo evil > .npmrc; echo evil > hooks/pre-commit; echo evil > conf/later; echo ran > conf/free',
    ])
    expect(readFileSync(join(sandbox.rootDir, 'conf/npmrc'), 'utf8')).toBe('honest')
    expect(readFileSync(join(sandbox.rootDir, 'hooks/pre-commit'), 'utf8')).toBe('honest')
    expect(existsSync(join(sandbox.rootDir, 'conf/free'))).toBe(true)
    expect(violations.map(({ subject }) => subject).toSorted()).toEqual(
      mountsProtectedNames(sandbox)
        ? ['conf/later']
        : ['conf/later', 'conf/npmrc', 'hooks/pre-commit'],
    )
  })

  test('is explained to be refused as it would be', async () => {
    const sandbox = await newSandbox({ isolation })
    linkUp(sandbox.rootDir)
    expect(await sandbox.explain({ type: 'write', path: '.npmrc' })).toMatchObject({
      allowed: false,
      option: 'files.protect',
    })
  })

  test('is reported when it comes to point elsewhere', async () => {
    const sandbox = await newSandbox({ isolation })
    linkUp(sandbox.rootDir)
    const { violations } = await sandbox.run('sh', ['-c', 'echo evil > x; ln -sfn x .npmrc'])
    expect(violations.map(({ subject }) => subject)).toEqual(['.npmrc'])
  })

  test('hides its target when it is denied', async () => {
    const sandbox = await newSandbox({ isolation, files: { deny: ['**/.env'] } })
    mkdirSync(join(sandbox.rootDir, 'conf'))
    writeFileSync(join(sandbox.rootDir, 'conf/dev'), 'KEY=secret')
    symlinkSync('conf/dev', join(sandbox.rootDir, '.env'))
    const { output, enforced } = await sandbox.run('sh', ['-c', 'cat .env conf/dev'])
    expect(output.includes('secret')).toBe(enforced.files !== 'enforced')
  })
})

describe('the file methods', () => {
  it('refuse to write through a protected link', async () => {
    const { root, files } = createWorkspace({})
    linkUp(root)
    for (const path of ['.npmrc', '.git/hooks/pre-commit', '.git/hooks/new', './.npmrc']) {
      await expect(files.write(path, 'evil'), path).rejects.toThrow(denied)
      await expect(files.open(path, { access: 'write', create: true }), path).rejects.toThrow(
        denied,
      )
    }
    await expect(files.updateText('.npmrc', () => 'evil')).rejects.toThrow(denied)
    await expect(files.chmod('.npmrc', 0o777)).rejects.toThrow(denied)
    await expect(files.mkdir('.git/hooks/new')).rejects.toThrow(denied)
    await expect(files.remove('.git/hooks/pre-commit')).rejects.toThrow(denied)
    await expect(files.rename('.git/hooks/pre-commit', 'x')).rejects.toThrow(denied)
    await expect(files.write('.git/hooks/new/deep/x', 'evil')).rejects.toThrow(denied)
    expect(existsSync(join(root, 'hooks/new'))).toBe(false)
    expect(readFileSync(join(root, 'conf/npmrc'), 'utf8')).toBe('honest')
    expect(await files.readText('.npmrc')).toBe('honest')
  })

  it('refuse to read through a link that is denied', async () => {
    const { root, files } = createWorkspace({ 'conf/dev': 'KEY' }, { deny: ['**/.env'] })
    symlinkSync('conf/dev', join(root, '.env'))
    await expect(files.read('.env')).rejects.toThrow(denied)
  })
})

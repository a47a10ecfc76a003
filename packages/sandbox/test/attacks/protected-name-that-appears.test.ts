import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, mountsProtectedNames, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('a name that something outside trusts', (isolation) => {
  test('is reported when a command makes it', async () => {
    const sandbox = await newSandbox({ isolation })
    const { violations } = await sandbox.run('sh', [
      '-c',
      'mkdir -p .git/hooks .github/workflows; touch .git/hooks/pre-commit .github/workflows/ci.yml .bashrc README.md',
    ])
    expect(violations.map(({ subject }) => subject).toSorted()).toEqual([
      '.bashrc',
      '.git/hooks',
      '.github/workflows',
    ])
    expect(existsSync(join(sandbox.rootDir, '.bashrc'))).toBe(false)
    expect(existsSync(join(sandbox.rootDir, 'README.md'))).toBe(true)
    expect(violations[0]).toMatchObject({
      rule: 'protected-name',
      message: expect.stringContaining(
        'a protected name that something outside the sandbox trusts',
      ),
    })
  })

  test('is kept as it was, or put back and reported when it was changed or removed', async () => {
    const sandbox = await newSandbox({ isolation })
    mkdirSync(join(sandbox.rootDir, '.git/hooks'), { recursive: true })
    writeFileSync(join(sandbox.rootDir, '.git/hooks/pre-push'), 'honest')
    writeFileSync(join(sandbox.rootDir, '.npmrc'), 'registry=x')
    const { violations } = await sandbox.run('sh', [
      '-c',
      'echo evil > .git/hooks/pre-push; rm -f .npmrc; touch .git/hooks/pre-commit',
    ])
    const subjects = violations.map(({ message }) => message.split(',')[0] ?? '').toSorted()
    expect(subjects).toEqual(
      mountsProtectedNames(sandbox)
        ? []
        : [
            'The command changed ".git/hooks/pre-push"',
            'The command created ".git/hooks/pre-commit"',
            'The command removed ".npmrc"',
          ],
    )
    expect(readFileSync(join(sandbox.rootDir, '.git/hooks/pre-push'), 'utf8')).toBe('honest')
    expect(readFileSync(join(sandbox.rootDir, '.npmrc'), 'utf8')).toBe('registry=x')
    expect(existsSync(join(sandbox.rootDir, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('is noticed although its size, its content and its time of change are put back', async () => {
    const sandbox = await newSandbox({ isolation: 'none' })
    writeFileSync(join(sandbox.rootDir, '.envrc'), 'one')
    const { violations } = await sandbox.run('sh', [
      '-c',
      'touch -r .envrc stamp; echo -n two > .envrc; touch -r stamp .envrc',
    ])
    expect(violations).toEqual([expect.objectContaining({ subject: '.envrc' })])
  })

  test('leaves no placeholder in the workspace', async () => {
    const sandbox = await newSandbox({ isolation })
    await sandbox.run('true')
    expect(readdirSync(sandbox.rootDir)).toEqual([])
  })

  test('is a plain name when the list is empty, or other names are on it', async () => {
    const free = await newSandbox({ isolation, files: { protect: [] } })
    expect((await free.run('sh', ['-c', 'echo x > .npmrc'])).violations).toEqual([])
    expect(existsSync(join(free.rootDir, '.npmrc'))).toBe(true)
    const own = await newSandbox({ isolation, files: { protect: ['deploy'] } })
    const { violations } = await own.run('sh', ['-c', 'mkdir deploy; touch .npmrc deploy/key'])
    expect(violations.map(({ subject }) => subject)).toEqual(['deploy'])
  })
})

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, mountsProtectedNames, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('a watched directory that a command filled', (isolation) => {
  test('leaves the protection of all other names as it was', async () => {
    const sandbox = await newSandbox({ isolation })
    const path = (name: string): string => join(sandbox.rootDir, name)
    mkdirSync(path('.github/workflows'), { recursive: true })
    writeFileSync(path('.npmrc'), 'honest')
    writeFileSync(path('.github/workflows/ci.yml'), 'honest')
    await sandbox.run('sh', ['-c', 'mkdir .husky; cd .husky; seq 2500 | xargs touch'])
    const { violations } = await sandbox.run('sh', [
      '-c',
      'echo evil > .npmrc; echo evil > .github/workflows/ci.yml; echo evil > .bashrc',
    ])
    expect(readFileSync(path('.npmrc'), 'utf8')).toBe('honest')
    expect(readFileSync(path('.github/workflows/ci.yml'), 'utf8')).toBe('honest')
    expect(violations.map(({ subject }) => subject).toSorted()).toEqual(
      mountsProtectedNames(sandbox)
        ? ['.bashrc']
        : ['.bashrc', '.github/workflows/ci.yml', '.npmrc'],
    )
  })

  test('shows itself what is added to it', async () => {
    const sandbox = await newSandbox({ isolation: 'none' })
    const husky = join(sandbox.rootDir, '.husky')
    mkdirSync(husky)
    for (let index = 0; index < 2100; index += 1) writeFileSync(join(husky, `a${index}`), '')
    const result = await sandbox.run('touch', ['.husky/z'])
    expect(result.error).toBeUndefined()
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, output: '' })
    expect(result.violations).toEqual([expect.objectContaining({ subject: '.husky' })])
  })
})

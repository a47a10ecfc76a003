import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from './fixtures/sandboxes.ts'

const home = process.env['HOME']
afterEach(() => {
  process.env['HOME'] = home
})

describeIsolations('the identity of the user', (isolation) => {
  test('is that of commits, where the repository has none of its own', async () => {
    const own = newRoot()
    const config =
      '[user]\n\tname = "Ada \\"A\\" L"\n\temail = ada@example.com # work\n[alias]\n\tx = !false\n'
    writeFileSync(join(own, '.gitconfig'), config)
    process.env['HOME'] = own
    const sandbox = await newSandbox({ isolation })
    execFileSync('git', ['init', '-q', '-b', 'main', sandbox.rootDir])
    const commit = 'git commit -q --allow-empty -m x && git log -1 --format="%an <%ae>"'
    expect(await sandbox.run('sh', ['-c', commit])).toMatchObject({
      exitCode: 0,
      output: 'Ada "A" L <ada@example.com>\n',
      violations: [],
    })
    const local = `git config user.name Local && ${commit}`
    expect((await sandbox.run('sh', ['-c', local])).output).toBe('Local <ada@example.com>\n')
  })

  test('can be set for all commands of a sandbox, and not for the user', async () => {
    const own = newRoot()
    process.env['HOME'] = own
    const sandbox = await newSandbox({ isolation })
    await sandbox.run('git', ['config', '--global', 'user.name', 'Agent'])
    expect((await sandbox.run('git', ['config', '--global', 'user.name'])).output).toBe('Agent\n')
    const isHidden = sandbox.report.enforced.files !== 'none'
    expect(existsSync(join(own, '.gitconfig'))).toBe(!isHidden)
    if (!isHidden) expect(readFileSync(join(own, '.gitconfig'), 'utf8')).toContain('Agent')
  })
})

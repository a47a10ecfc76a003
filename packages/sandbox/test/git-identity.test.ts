import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
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

  test('may come from what the configuration includes, but never from a file in the root', async () => {
    const own = newRoot()
    process.env['HOME'] = own
    const rootDir = newRoot()
    writeFileSync(join(rootDir, 'mine'), '[user]\n\tname = Agent\n\temail = agent@evil.test\n')
    const config = [
      '[include]\n\tpath = base.inc',
      `[includeIf "gitdir:${rootDir}/"]\n\tpath = ~/work.inc`,
      '[includeIf "gitdir:/elsewhere/"]\n\tpath = ~/other.inc',
      `[include]\n\tpath = ${rootDir}/mine\n\tpath = missing`,
    ]
    writeFileSync(join(own, '.gitconfig'), `${config.join('\n')}\n`)
    writeFileSync(join(own, 'base.inc'), '[user]\n\tname = Ada\n\temail = ada@home.test\n')
    writeFileSync(join(own, 'work.inc'), '[user] email = ada@work.test\n')
    writeFileSync(join(own, 'other.inc'), '[user]\n\tname = Other\n')
    const sandbox = await newSandbox({ isolation, rootDir })
    execFileSync('git', ['init', '-q', rootDir])
    const { output } = await sandbox.run('git', ['var', 'GIT_AUTHOR_IDENT'])
    // Without isolation, git itself reads the user's configuration, with all that it includes.
    const isHidden = sandbox.report.enforced.files !== 'none'
    expect(output).toMatch(isHidden ? /^Ada <ada@work\.test> / : /^Agent <agent@evil\.test> /)
  })

  test('may come from the variables of git, and can be left out', async () => {
    const own = newRoot()
    process.env['HOME'] = own
    writeFileSync(join(own, '.gitconfig'), '[user]\n\tname = Ada\n\temail = a@b.test\n')
    vi.stubEnv('GIT_AUTHOR_NAME', 'From Environment')
    const print = ['-c', 'git config user.name; echo "$GIT_AUTHOR_NAME"']
    const known = await newSandbox({ isolation })
    expect((await known.run('sh', print)).output).toBe('Ada\nFrom Environment\n')
    const unknown = await newSandbox({ isolation, gitIdentity: false })
    const isHidden = unknown.report.enforced.files !== 'none'
    expect((await unknown.run('sh', print)).output).toBe(isHidden ? '\n' : 'Ada\n\n')
    vi.unstubAllEnvs()
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

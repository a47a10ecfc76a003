import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

const home = process.env['HOME']
afterEach(() => {
  process.env['HOME'] = home
})

/** Every file that git and shells read from a home, each of which would leave a mark in the root. */
const plant = `
mkdir -p ~/.config/git ~/.cache
printf '[core]\\n\\tfsmonitor = "echo x > %s/ran; false"\\n[alias]\\n\\tst = status\\n' "$PWD" | tee ~/.gitconfig > ~/.config/git/config
echo "echo x > $PWD/ran" | tee ~/.profile ~/.bashrc > ~/.bash_profile
echo kept > ~/.cache/kept
`

describeIsolations('what commands leave in their home', (isolation) => {
  test('lasts until the next command, and reaches nothing else', async () => {
    const own = newRoot()
    process.env['HOME'] = own
    const sandbox = await newSandbox({ isolation })
    if (sandbox.report.enforced.files === 'none') return
    const { rootDir } = sandbox
    const ran = join(rootDir, 'ran')
    execFileSync('git', ['init', '-q', rootDir])
    expect(await sandbox.run('sh', ['-c', plant])).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await sandbox.run('sh', ['-c', 'cat ~/.cache/kept'])).output).toBe('kept\n')
    // Control: for the command's own git, the settings count where the whole home is kept.
    if (sandbox.report.backend !== 'bubblewrap') {
      await sandbox.run('env', ['-u', 'GIT_CONFIG_GLOBAL', 'git', 'status'])
      expect(existsSync(ran)).toBe(true)
      await sandbox.files.remove('ran')
    }
    // The host's git, and our own questions to git when a protected name has changed.
    execFileSync('git', ['-C', rootDir, 'status'], { env: { ...process.env, HOME: own } })
    await sandbox.run('sh', ['-c', 'echo x > .git/hooks/pre-commit; git config user.name A'])
    expect(existsSync(ran)).toBe(false)
    expect(readdirSync(own)).toEqual([])
    const later = await newSandbox({ isolation, rootDir })
    const left = await later.run('sh', ['-lc', 'ls -A ~ ~/.cache ~/.config'])
    expect(left.output).not.toMatch(/kept|gitconfig|profile|bashrc|^git$/m)
    expect(existsSync(ran)).toBe(false)
  })

  test('is removed with the sandbox', async () => {
    process.env['HOME'] = newRoot()
    const sandbox = await newSandbox({ isolation })
    if (sandbox.report.enforced.files === 'none') return
    const name = `left-${process.pid}-${performance.now()}`
    await sandbox.run('sh', ['-c', `echo "secret of a sandbox" > ~/.cache/${name}`])
    const find = (): string[] => findLeft(process.env['TMPDIR'] ?? '/tmp', name)
    // What earlier sandboxes have left goes in later turns, and a directory that changes cannot always be listed.
    await expect.poll(find).toHaveLength(1)
    await sandbox.close()
    expect(find()).toEqual([])
  })

  test('cannot lead the next command out by links', async () => {
    const own = newRoot()
    process.env['HOME'] = own
    const secret = newRoot()
    writeFileSync(join(secret, 'key'), 'outside')
    const sandbox = await newSandbox({ isolation })
    if (sandbox.report.enforced.files === 'none') return
    const links = `rm -rf ~/.cache ~/.npm; ln -s ${secret} ~/.cache; ln -s ${secret} ~/.npm; ln -s ${secret} ~/out`
    await sandbox.run('sh', ['-c', links])
    const attempt =
      'echo x > ~/.cache/key; echo x > ~/out/key; cat ~/out/key ~/.cache/key ~/.npm/key'
    expect((await sandbox.run('sh', ['-c', attempt])).stdout).not.toContain('outside')
    expect(readFileSync(join(secret, 'key'), 'utf8')).toBe('outside')
    expect(readdirSync(secret)).toEqual(['key'])
  })
})

/** What a command does to the directories above its root. */
const swaps = [
  ['a file', 'mv ~/a ~/x; touch ~/a'],
  ['a link', 'mv ~/a ~/x; ln -s /tmp ~/a'],
  ['a directory without rights', 'mv ~/a ~/x; mkdir -m 0 ~/a; chmod 0 ~/.config ~/.local/share'],
] as const

describeIsolations('a root beneath the home', (isolation) => {
  test.each(swaps)(
    'is reached by the next command, whatever is put above it: %s',
    async (_, swap) => {
      const own = newRoot()
      process.env['HOME'] = own
      const rootDir = join(own, 'a/b/project')
      mkdirSync(rootDir, { recursive: true })
      const sandbox = await newSandbox({ isolation, rootDir })
      if (sandbox.report.enforced.files === 'none') return
      // Control: the command can do it, in a home of its own. With landlock the root is not beneath that home.
      if (sandbox.report.backend !== 'landlock') {
        const done = await sandbox.run('sh', [
          '-ec',
          `echo x > ~/.cache/kept; ${swap}; ls -d ~/x/b`,
        ])
        expect(done).toMatchObject({ exitCode: 0, stdout: `${own}/x/b\n` })
      } else {
        await sandbox.run('sh', ['-c', `mkdir -p ~/a/b ~/.cache; echo x > ~/.cache/kept; ${swap}`])
      }
      const next = await sandbox.run('sh', ['-c', 'echo y > written; cat ~/.cache/kept'])
      expect(next.status).toBe('exited')
      expect(readFileSync(join(rootDir, 'written'), 'utf8')).toBe('y\n')
      expect(readdirSync(own)).toEqual(['a'])
    },
  )

  test('is reached when other commands have the whole home', async () => {
    const own = newRoot()
    process.env['HOME'] = newRoot()
    const rootDir = join(own, 'project')
    mkdirSync(rootDir)
    const sandbox = await newSandbox({ isolation, rootDir })
    if (sandbox.report.enforced.files === 'none') return
    await sandbox.run('sh', ['-c', 'rm -rf ~/.cache ~/.local; ln -s /tmp ~/.cache; touch ~/.local'])
    const next = await sandbox.run('sh', ['-c', 'echo y > written'], { env: { HOME: own } })
    expect(next).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(readFileSync(join(rootDir, 'written'), 'utf8')).toBe('y\n')
  })
})

function findLeft(directory: string, left: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith('smithers-process-'))
    .flatMap((name) => {
      try {
        return readdirSync(join(directory, name), { recursive: true }).map(String)
      } catch {
        // Of another user, or just removed.
        return []
      }
    })
    .filter((name) => /home-[^/]+\/(?:whole|kept)\/\.cache\/[^/]+$/u.test(name))
    .filter((name) => name.endsWith(`/${left}`))
}

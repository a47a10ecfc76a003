import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

const identity = ['-c', 'user.name=o', '-c', 'user.email=o@x']

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, ...identity, ...args], { encoding: 'utf8' })
}

/** A root whose owner has set something, with the file that an attack writes. */
const scenes: Readonly<Record<string, (root: string) => string>> = {
  'core.hooksPath': (root) => {
    git(root, 'config', 'core.hooksPath', 'scripts/"my" hooks')
    return 'scripts/"my" hooks/pre-commit'
  },
  'core.hooksPath of a worktree configuration': (root) => {
    git(root, 'config', 'extensions.worktreeConfig', 'true')
    git(root, 'config', '--worktree', 'core.hooksPath', 'tools/hooks')
    return 'tools/hooks/pre-commit'
  },
  'core.hooksPath as an absolute path': (root) => {
    git(root, 'config', 'core.hooksPath', join(root, 'tools/hooks'))
    return 'tools/hooks/pre-commit'
  },
  'include.path': (root) => {
    git(root, 'config', 'include.path', '../shared.gitconfig')
    return 'shared.gitconfig'
  },
  'includeIf.path': (root) => {
    git(root, 'config', 'includeIf.gitdir:/never/.path', '../shared.gitconfig')
    return 'shared.gitconfig'
  },
  'a file that is included by an included one': (root) => {
    git(root, 'config', 'include.path', '../one.gitconfig')
    writeFileSync(join(root, 'one.gitconfig'), '[include]\n\tpath = deep/two.gitconfig # next\n')
    return 'deep/two.gitconfig'
  },
}

/** What the owner's own configuration, outside the root, can say, with the file that an attack writes. */
const ownScenes: Readonly<Record<string, (root: string) => { config: string; path: string }>> = {
  'core.hooksPath from the root': () => ({
    config: '[core]\n\thooksPath = scripts/hooks\n',
    path: 'scripts/hooks/pre-commit',
  }),
  'core.hooksPath as an absolute path': (root) => ({
    config: `[core]\n\thooksPath = ${root}/tools/hooks\n`,
    path: 'tools/hooks/pre-commit',
  }),
  'include.path in the root': (root) => ({
    config: `[include]\n\tpath = ${root}/shared.gitconfig\n`,
    path: 'shared.gitconfig',
  }),
  'core.hooksPath in a file that it includes': (root) => {
    const included = join(newRoot(), 'more.gitconfig')
    writeFileSync(included, `[core]\n\thooksPath = ${root}/more/hooks\n`)
    return { config: `[include]\n\tpath = ${included}\n`, path: 'more/hooks/pre-commit' }
  },
}

describeIsolations("what the owner's own configuration names in a root", (isolation) => {
  afterEach(() => vi.unstubAllEnvs())

  test.each(Object.entries(ownScenes))('by %s is kept from an agent', async (_, prepare) => {
    const root = newRoot()
    execFileSync('git', ['init', '-q', '-b', 'main', root])
    const { config, path } = prepare(root)
    const own = join(newRoot(), 'gitconfig')
    writeFileSync(own, config)
    const plant = 'mkdir -p "$(dirname "$1")"; echo evil > "$1"'

    // The control: an owner who has not set it keeps what a command writes there.
    const free = await newSandbox({ isolation })
    execFileSync('git', ['init', '-q', free.rootDir])
    expect((await free.run('sh', ['-c', plant, 'sh', path])).violations).toEqual([])
    expect(existsSync(join(free.rootDir, path))).toBe(true)

    vi.stubEnv('GIT_CONFIG_GLOBAL', own)
    const sandbox = await newSandbox({ rootDir: root, isolation })
    const { violations } = await sandbox.run('sh', ['-c', plant, 'sh', path])
    expect(existsSync(join(root, path))).toBe(false)
    expect(violations).toHaveLength(1)
    await expect(sandbox.files.write(path, 'evil')).rejects.toMatchObject({
      code: 'TOOL_PATH_DENIED',
    })
    expect(existsSync(join(root, path))).toBe(false)
  })
})

describeIsolations('what the configuration of a repository names', (isolation) => {
  test.each(Object.entries(scenes))('by %s is kept from an agent', async (_, prepare) => {
    const root = newRoot()
    execFileSync('git', ['init', '-q', '-b', 'main', root])
    const path = prepare(root)
    const sandbox = await newSandbox({ rootDir: root, isolation })
    const plant = 'mkdir -p "$(dirname "$1")"; echo evil > "$1"'
    const { violations } = await sandbox.run('sh', ['-c', plant, 'sh', path])
    expect(existsSync(join(root, path))).toBe(false)
    expect(violations).toHaveLength(1)
    await expect(sandbox.files.write(path, 'evil')).rejects.toMatchObject({
      code: 'TOOL_PATH_DENIED',
    })
    expect(existsSync(join(root, path))).toBe(false)

    // The control: an owner who has not set it keeps what a command writes there.
    const free = await newSandbox({ isolation })
    execFileSync('git', ['init', '-q', free.rootDir])
    expect((await free.run('sh', ['-c', plant, 'sh', path])).violations).toEqual([])
    expect(readFileSync(join(free.rootDir, path), 'utf8')).toBe('evil\n')
  })

  test('by core.hooksPath is put back when it was there, and runs nothing of the agent', async () => {
    const root = newRoot()
    execFileSync('git', ['init', '-q', '-b', 'main', root])
    git(root, 'config', 'core.hooksPath', 'hooks')
    mkdirSync(join(root, 'hooks'))
    writeFileSync(join(root, 'hooks/pre-commit'), '#!/bin/sh\n')
    chmodSync(join(root, 'hooks/pre-commit'), 0o755)
    const sandbox = await newSandbox({ rootDir: root, isolation })
    await sandbox.run('sh', ['-c', 'echo "touch pwned" >> hooks/pre-commit; true'])
    writeFileSync(join(root, 'file'), '')
    git(root, 'add', 'file')
    git(root, 'commit', '-qm', 'by the owner')
    expect(existsSync(join(root, 'pwned'))).toBe(false)
  })

  test('follows an honest switch of branches', async () => {
    const root = newRoot()
    execFileSync('git', ['init', '-q', '-b', 'main', root])
    git(root, 'config', 'core.hooksPath', 'hooks')
    mkdirSync(join(root, 'hooks'))
    const hook = join(root, 'hooks/post-merge')
    for (const branch of ['main', 'other']) {
      if (branch === 'other') git(root, 'checkout', '-qb', branch)
      writeFileSync(hook, `#!/bin/sh\n# ${branch}\n`)
      git(root, 'add', '-A')
      git(root, 'commit', '-qm', branch)
    }
    const sandbox = await newSandbox({ rootDir: root, isolation })
    const result = await sandbox.run('git', ['checkout', '-q', 'main'])
    expect(result).toMatchObject({ exitCode: 0, violations: [] })
    expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\n# main\n')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})

describe('what the configuration of a nested repository names', () => {
  /** How the owner keeps the repository, with its directory `.git`. */
  const kinds: Readonly<Record<string, (root: string) => void>> = {
    'a clone below the root': (root) => {
      execFileSync('git', ['init', '-q', '-b', 'main', join(root, 'apps/web')])
    },
    'a repository whose directory lies elsewhere': (root) => {
      const separate = `--separate-git-dir=${join(root, 'repositories/web')}`
      mkdirSync(join(root, 'repositories'))
      execFileSync('git', ['init', '-q', '-b', 'main', separate, join(root, 'apps/web')])
    },
    'a linked worktree': (root) => {
      execFileSync('git', ['init', '-q', '-b', 'main', join(root, 'main')])
      git(join(root, 'main'), 'commit', '-q', '--allow-empty', '-m', 'zero')
      git(join(root, 'main'), 'worktree', 'add', '-q', join(root, 'apps/web'))
    },
  }

  test.each(Object.entries(kinds))('is kept from file methods: %s', async (_, make) => {
    const root = newRoot()
    make(root)
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    // The control: before its owner sets it, the hook may be written, and git runs it afterwards.
    await sandbox.files.mkdir('apps/web/.husky')
    await sandbox.files.write('apps/web/.husky/pre-commit', '#!/bin/sh\ntouch ran\n')
    chmodSync(join(root, 'apps/web/.husky/pre-commit'), 0o755)
    git(join(root, 'apps/web'), 'config', 'core.hooksPath', '.husky')
    git(join(root, 'apps/web'), 'commit', '-q', '--allow-empty', '-m', 'one')
    expect(existsSync(join(root, 'apps/web/ran'))).toBe(true)

    const before = readFileSync(join(root, 'apps/web/.husky/pre-commit'), 'utf8')
    await sandbox.files.mkdir('apps/web/mine')
    await sandbox.files.write('apps/web/mine/pre-commit', 'evil')
    const attempts = [
      () => sandbox.files.write('apps/web/.husky/pre-commit', 'evil'),
      () => sandbox.files.write('apps/web/.husky/commit-msg', 'evil'),
      () => sandbox.files.rename('apps/web/mine/pre-commit', 'apps/web/.husky/pre-commit'),
      () => sandbox.files.rename('apps/web/.husky', 'apps/web/old'),
      () => sandbox.files.remove('apps/web/.husky', { recursive: true }),
    ]
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({ code: 'TOOL_PATH_DENIED' })
    }
    expect(readFileSync(join(root, 'apps/web/.husky/pre-commit'), 'utf8')).toBe(before)
    expect(existsSync(join(root, 'apps/web/.husky/commit-msg'))).toBe(false)
    // Everything else in the repository stays an agent's to change.
    await sandbox.files.write('apps/web/index.ts', 'export {}')
    expect(readFileSync(join(root, 'apps/web/index.ts'), 'utf8')).toBe('export {}')
  })

  test('is kept from a move of the directory around it', async () => {
    const root = newRoot()
    execFileSync('git', ['init', '-q', '-b', 'main', join(root, 'web')])
    git(join(root, 'web'), 'config', 'core.hooksPath', 'tools/hooks')
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    await sandbox.files.mkdir('web/mine')
    await sandbox.files.mkdir('web/mine/hooks')
    await sandbox.files.write('web/mine/hooks/pre-commit', 'evil')
    await expect(sandbox.files.rename('web/mine', 'web/tools')).rejects.toMatchObject({
      code: 'TOOL_PATH_DENIED',
    })
    expect(existsSync(join(root, 'web/tools'))).toBe(false)
  })
})

describe('names that make a directory a bare repository', () => {
  const parts: Readonly<Record<string, string>> = {
    HEAD: 'ref: refs/heads/main\n',
    'objects/.keep': '',
    'refs/.keep': '',
    config:
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ran; false"\n',
  }
  const orders = Object.keys(parts).map((last): [string, string[]] => [
    last,
    [...Object.keys(parts).filter((name) => name !== last), last],
  ])

  test.each(orders)('are not completed by file methods, with %s last', async (last, names) => {
    const root = newRoot()
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    await sandbox.files.mkdir('bare')
    for (const name of names) {
      const write = sandbox.files.write(`bare/${name}`, parts[name] ?? '')
      if (name === last) await expect(write).rejects.toMatchObject({ code: 'TOOL_PATH_DENIED' })
      else await write
    }
    expect(existsSync(join(root, 'bare', last.split('/')[0] ?? ''))).toBe(false)
    const status = (): void => {
      try {
        execFileSync('git', ['-C', join(root, 'bare'), 'status'], { stdio: 'ignore' })
      } catch {
        // It is no repository.
      }
    }
    status()
    expect(existsSync(join(root, 'ran'))).toBe(false)
    // The control: with all of them, git runs the program.
    for (const [name, text] of Object.entries(parts)) {
      mkdirSync(join(root, 'bare', name, '..'), { recursive: true })
      writeFileSync(join(root, 'bare', name), text)
    }
    status()
    expect(existsSync(join(root, 'ran'))).toBe(true)
  })

  test('may be files of other directories', async () => {
    const root = newRoot()
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    for (const name of ['app/config', 'app/HEAD', 'app/hooks']) await sandbox.files.write(name, 'x')
    await sandbox.files.mkdir('app/objects')
    await sandbox.files.write('app/objects/one.json', '{}')
    expect(readFileSync(join(root, 'app/config'), 'utf8')).toBe('x')
  })
})

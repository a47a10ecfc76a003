import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

const secret = `secret-${process.pid}-${Math.random()}`

describeConfined('a secret outside the root', (confinement) => {
  let project: string
  let root: string
  const places: Record<string, string> = {}

  beforeAll(() => {
    project = confinement.directory()
    chmodSync(project, 0o755)
    root = join(project, 'root')
    mkdirSync(root, { mode: 0o777 })
    chmodSync(root, 0o777)
    places['a file beside the root'] = join(project, 'beside.txt')
    places["a sibling project's file"] = join(project, 'sibling/.env')
    places["a file in the user's home"] = join(confinement.home, `.smithers-test-${process.pid}`)
    for (const path of Object.values(places)) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, secret)
      // Readable by every user: what keeps it from a command can only be isolation.
      chmodSync(path, 0o644)
    }
    symlinkSync(join(project, 'beside.txt'), join(root, 'link-out'))
    symlinkSync(project, join(root, 'directory-out'))
  })
  afterAll(() => {
    for (const path of Object.values(places)) rmSync(path, { force: true })
  })

  const readers: Readonly<Record<string, (path: string) => readonly [string, ...string[]]>> = {
    cat: (path) => ['cat', path],
    'a relative path': (path) => ['sh', '-c', `cat ..${path.slice(project.length)}`],
    '/proc/1/root': (path) => ['cat', `/proc/1/root${path}`],
    '/proc/self/root': (path) => ['cat', `/proc/self/root${path}`],
    "every process's root": (path) => [
      'sh',
      '-c',
      `cat /proc/[0-9]*/root${path} /proc/[0-9]*/cwd/../beside.txt`,
    ],
    'an open directory': (path) => [
      'sh',
      '-c',
      `cat /proc/[0-9]*/fd/*/..${path.slice(project.length)}`,
    ],
    python: (path) => ['/usr/bin/python3', '-c', `print(open("${path}").read())`],
    tar: (path) => ['tar', '-cPf', '-', path],
    'a link in the root': () => ['cat', 'link-out'],
    'a directory link in the root': () => ['cat', 'directory-out/beside.txt'],
  }

  test.each(Object.entries(readers))('is not read by %s', async (_, reader) => {
    for (const [name, path] of Object.entries(places)) {
      const { stdout, stderr } = await confinement.run(root, reader(path))
      expect(`${name}: ${stdout}${stderr}`).not.toContain(secret)
    }
  })

  test('is read by the same commands without isolation', async () => {
    for (const reader of ['cat', 'python', 'a link in the root', 'a directory link in the root']) {
      const path = places['a file beside the root'] ?? ''
      const { stdout } = await confinement.runFreely(root, readers[reader]?.(path) ?? ['false'])
      expect(`${reader}: ${stdout}`).toContain(secret)
    }
  })

  test('is not found by a search of the whole tree', async () => {
    // The system's and the tools' programs were there before the secret; reading them all takes minutes.
    const known = ['proc', 'usr', 'node_modules', '.pyenv', '.rustup', '.cargo', '.nvm', 'bin']
    const skip = known.map((name) => `--exclude-dir=${name}`).join(' ')
    const search = `grep -rls --devices=skip ${skip} ${secret} / 2>/dev/null`
    const { stdout } = await confinement.run(root, ['sh', '-c', search])
    expect(stdout).toBe('')
  })
})

describeConfined('the machine outside the root', (confinement) => {
  test('shows no password hashes', async () => {
    const { stdout } = await confinement.run(confinement.directory(), [
      'sh',
      '-c',
      'cat /etc/shadow /etc/shadow- /etc/gshadow',
    ])
    expect(stdout).toBe('')
  })

  test('shows none of the directories that hold services, logs and other users', async () => {
    const { stdout } = await confinement.run(confinement.directory(), ['ls', '-A', '/'])
    const visible = stdout.split('\n').filter((name) => name !== '')
    // Landlock grants no list of a directory that is not granted itself.
    if (confinement.backend === 'landlock') expect(visible).toEqual([])
    else expect(visible).toContain('usr')
    for (const name of ['run', 'sys', 'boot', 'srv', 'mnt', 'media'])
      expect(visible).not.toContain(name)
    const inVar = await confinement.run(confinement.directory(), ['ls', '-A', '/var'])
    expect(inVar.stdout.trim()).toBe(confinement.backend === 'landlock' ? '' : 'tmp')
  })

  test('shows no process but the own ones, or the report says that it shows them', async () => {
    if (confinement.backend === 'landlock') {
      const codes = await confinement.reportedCodes({})
      expect(codes).toContain('PROCESS_LIST_VISIBLE')
      return
    }
    const { stdout } = await confinement.run(confinement.directory(), [
      'sh',
      '-c',
      'cat /proc/[0-9]*/cmdline | tr "\\0" " "',
    ])
    expect(stdout).toContain('sh -c')
    expect(stdout).not.toContain('vitest')
    expect(stdout).not.toContain(confinement.node)
  })

  test('shows no environment but the own one', async () => {
    process.env['SMITHERS_TEST_API_KEY'] = secret
    try {
      const root = confinement.directory()
      const { stdout } = await confinement.run(root, ['sh', '-c', 'env; cat /proc/[0-9]*/environ'])
      expect(stdout).toContain('HOME=')
      expect(stdout).not.toContain(secret)
    } finally {
      delete process.env['SMITHERS_TEST_API_KEY']
    }
  })

  test("shows a container daemon's socket neither as a file nor to connect to", async () => {
    const directory = confinement.directory()
    chmodSync(directory, 0o755)
    const path = join(directory, 'docker.sock')
    let connections = 0
    const server: Server = createServer((socket) => {
      connections += 1
      socket.end()
    })
    await once(server.listen(path), 'listening')
    chmodSync(path, 0o777)
    try {
      // Whether a file exists can be seen under Landlock, as its report says.
      const seen = confinement.backend === 'landlock' ? 'true' : `test -e ${path} && echo there`
      const script = `${seen}; curl -s -m 100 --unix-socket ${path} http://localhost/containers/json`
      const inside = await confinement.run(confinement.directory(), ['sh', '-c', script])
      expect(inside.stdout).not.toContain('there')
      expect(connections).toBe(0)
      if (confinement.backend === 'landlock') {
        expect(await confinement.reportedCodes({})).toContain('METADATA_VISIBLE')
      }
      const freely = `test -e ${path} && echo there; ${script}`
      const outside = await confinement.runFreely(confinement.directory(), ['sh', '-c', freely])
      expect(outside.stdout).toContain('there')
      expect(connections).toBe(1)
    } finally {
      server.close()
    }
  })
})

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { describeNetworks, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

vi.mock(import('../../src/egress/judge.ts'), async (load) => {
  const { withLocalJudge } = await import('../fixtures/local-judge.ts')
  return withLocalJudge(await load())
})

const sshd = '/usr/sbin/sshd'
const isInstalled =
  existsSync(sshd) && ['ssh', 'ssh-keygen', 'git'].every((name) => isProgram(name))

function isProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // One without a name, whom sshd does not let in.
    return undefined
  }
}

/** What sshd wants to exist when root starts it. */
const separation = '/run/sshd'

describeNetworks('git over ssh', (isolation) => {
  const directory = newRoot()
  const user = userName()
  let server: ChildProcess | undefined
  let port = 0

  beforeAll(async () => {
    if (!isInstalled || user === undefined) return
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(directory, name)])
    }
    // It stays: another run of the tests may use it by now.
    if (process.geteuid?.() === 0) mkdirSync(separation, { mode: 0o755, recursive: true })
    while (server === undefined) {
      port = await freePort()
      server = await startServer(directory, port)
    }
    const repository = join(directory, 'repository')
    execFileSync('git', ['init', '-q', '-b', 'main', repository])
    writeFileSync(join(repository, 'greeting'), 'hello\n')
    const identity = ['-c', 'user.name=o', '-c', 'user.email=o@x']
    execFileSync('git', ['-C', repository, 'add', '.'])
    execFileSync('git', ['-C', repository, ...identity, 'commit', '-qm', 'one'])
  })
  afterAll(() => void server?.kill())

  test('clones from a host that is allowed by its port, and from no other', async ({ skip }) => {
    skip(!isInstalled, 'git, ssh or sshd is not installed')
    skip(user === undefined, 'this user has no name')
    const rootDir = newRoot()
    for (const name of ['user', 'user.pub']) {
      execFileSync('cp', ['-p', join(directory, name), join(rootDir, name)])
    }
    const sandbox = await newSandbox({
      rootDir,
      isolation,
      commands: 'off',
      network: { allow: [`good.test:${port}`] },
    })
    const settings = `Host *
  IdentityFile ${rootDir}/user
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
`
    writeFileSync(join(rootDir, 'ssh_config'), settings)
    const clone = (host: string, copy: string): string =>
      // ssh looks for its settings in the home that the system names, whatever HOME says.
      `export GIT_SSH_COMMAND="$GIT_SSH_COMMAND -F ${rootDir}/ssh_config"
      git clone -q ssh://${user}@${host}:${port}${directory}/repository ${copy} && cat ${copy}/greeting`
    const refused = await sandbox.run('sh', ['-c', clone('evil.test', 'refused')])
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain(`confine: blocked by the sandbox: evil.test:${port}`)
    expect(refused.violations).toEqual([
      expect.objectContaining({ rule: 'network.allow', subject: `evil.test:${port}` }),
    ])
    const cloned = await sandbox.run('sh', ['-c', clone('good.test', 'cloned')])
    expect(cloned).toMatchObject({ exitCode: 0, stdout: 'hello\n' })

    // Without the program on the way there is none.
    const direct = await sandbox.run('sh', ['-c', clone('good.test', 'direct')], {
      env: { GIT_SSH_COMMAND: 'ssh' },
    })
    expect(direct.exitCode).not.toBe(0)
    expect(existsSync(join(rootDir, 'direct/greeting'))).toBe(false)
  })
})

/** Starts a server of ssh; `undefined` where something else has taken the port meanwhile. */
async function startServer(directory: string, port: number): Promise<ChildProcess | undefined> {
  const config = join(directory, 'sshd_config')
  writeFileSync(
    config,
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${join(directory, 'host')}
AuthorizedKeysFile ${join(directory, 'user.pub')}
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
`,
  )
  const server = spawn(sshd, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const isListening = await new Promise<boolean>((resolve, reject) => {
    let text = ''
    server.stderr.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('Server listening')) resolve(true)
    })
    server.once('close', () => {
      if (text.includes('Address already in use')) resolve(false)
      else reject(new Error(text))
    })
  })
  return isListening ? server : undefined
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

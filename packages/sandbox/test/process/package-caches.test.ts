import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sandbox, SandboxOptions } from '@smithers/sandbox'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  describeIsolations,
  newRoot,
  newSandbox,
  type TestIsolation,
} from '../fixtures/sandboxes.ts'

const call = promisify(execFile)
const home = newRoot()
let server: Server | undefined
let registry = ''

beforeAll(async () => {
  server = await startRegistry()
  registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  vi.stubEnv('HOME', home)
  // Those of whoever runs the tests.
  for (const name of Object.keys(process.env)) {
    if (/^p?npm_config_|^XDG_/i.test(name)) vi.stubEnv(name, undefined)
  }
  const settings = `registry=${registry}\n@a:registry=http://me:secret@127.0.0.1/\n@b:registry=http://127.0.0.1/?token=secret\n@c:registry=http://127.0.0.1/;secret\n//127.0.0.1/:_authToken=secret\n`
  writeFileSync(join(home, '.npmrc'), settings)
  const options = { cwd: newProject('npm'), env: process.env }
  await call('npm', ['install', '--no-audit', '--no-fund'], options)
  lockfiles.npm = readFileSync(join(options.cwd, 'package-lock.json'), 'utf8')
  options.cwd = newProject('pnpm')
  const storeDir = `--store-dir=${join(home, '.local/share/pnpm/store')}`
  await call('pnpm', ['install', storeDir], options)
  lockfiles.pnpm = readFileSync(join(options.cwd, 'pnpm-lock.yaml'), 'utf8')
  await new Promise((resolve) => server?.close(resolve))
})

afterAll(() => {
  vi.unstubAllEnvs()
  server?.close()
})

describeIsolations('packages that the user has downloaded', (isolation) => {
  const isHidden = isolation !== 'none'

  test.runIf(isHidden).each(['npm', 'pnpm'] as const)(
    'are installed by %s without a network',
    async (manager) => {
      const sandbox = await projectSandbox(manager, isolation, { packageCaches: true })
      const args =
        manager === 'npm' ? ['ci', '--offline'] : ['install', '--offline', '--frozen-lockfile']
      const { exitCode, output, violations } = await sandbox.run(manager, args)
      expect({ exitCode, violations }, output).toEqual({ exitCode: 0, violations: [] })
      const installed = join(sandbox.rootDir, 'node_modules/there/index.js')
      expect(readFileSync(installed, 'utf8')).toBe(contents)
      // A copy of its own, which a command can change without the user's.
      expect(statSync(installed).nlink).toBe(1)
      const without = await projectSandbox(manager, isolation, {})
      expect((await without.run(manager, args)).exitCode).not.toBe(0)
    },
  )

  test.runIf(isHidden)('cannot be changed by a command', async () => {
    const sandbox = await projectSandbox('npm', isolation, { packageCaches: true })
    const cached = join(home, '.npm/_cacache')
    const before = await listing()
    const attack = [
      'cd ~/.npm/_cacache && pwd -P',
      'echo x > planted',
      'echo x > index-v5/planted',
      'find . -type f -exec sh -c \'echo x > "$1"\' _ {} ";"',
      'find . -type f -exec chmod 777 {} +',
      'cd ~/.local/share/pnpm/store/v*/files && find . -type f -exec sh -c \'echo x > "$1"\' _ {} ";"',
      'rm -rf * ; rm -rf ~/.npm/_cacache/* ; mv ~/.npm/_cacache ~/.npm/gone',
      'echo x > ~/.npm/_cacache',
    ]
    const { output } = await sandbox.run('sh', ['-c', attack.join('; ')])
    expect(output).toMatch(/Read-only file system|Permission denied/)
    expect(await listing()).toBe(before)
    expect(existsSync(join(cached, 'planted'))).toBe(false)
  })

  test.runIf(isHidden)('come without passwords of registries', async () => {
    const sandbox = await projectSandbox('npm', isolation, { packageCaches: true })
    const { output } = await sandbox.run('sh', [
      '-c',
      'cat "$npm_config_userconfig"; grep -rs secret ~ ; true',
    ])
    expect(output).toBe(`registry=${registry}\n`)
  })

  test.runIf(isHidden)('are none where they cannot be read', async () => {
    const odd = newRoot()
    await call('mkfifo', [join(odd, '.npmrc')])
    mkdirSync(join(odd, '.local/share/pnpm'), { recursive: true })
    writeFileSync(join(odd, '.local/share/pnpm/store'), 'a file')
    vi.stubEnv('HOME', odd)
    try {
      const sandbox = await newSandbox({ isolation, packageCaches: true })
      expect(await sandbox.run('true')).toMatchObject({ exitCode: 0 })
    } finally {
      vi.stubEnv('HOME', home)
    }
  })

  test.runIf(isHidden)('are not taken from a directory in the root', async () => {
    const rootDir = newRoot()
    mkdirSync(join(rootDir, 'cache/_cacache/index-v5'), { recursive: true })
    vi.stubEnv('npm_config_cache', join(rootDir, 'cache'))
    try {
      const sandbox = await newSandbox({ isolation, rootDir, packageCaches: true })
      const { exitCode } = await sandbox.run('sh', ['-c', 'test -e ~/.npm/_cacache/index-v5'])
      expect(exitCode).toBe(1)
    } finally {
      vi.stubEnv('npm_config_cache', undefined)
    }
  })
})

const lockfiles = { npm: '', pnpm: '' }
const contents = 'module.exports = "there"\n'

function newProject(manager: 'npm' | 'pnpm'): string {
  const root = newRoot()
  const manifest = {
    name: 'app',
    version: '1.0.0',
    private: true,
    dependencies: { there: '1.0.0' },
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
  const lockfile = lockfiles[manager]
  const name = manager === 'npm' ? 'package-lock.json' : 'pnpm-lock.yaml'
  if (lockfile !== '') writeFileSync(join(root, name), lockfile)
  return root
}

function projectSandbox(
  manager: 'npm' | 'pnpm',
  isolation: TestIsolation,
  options: Partial<SandboxOptions>,
): Promise<Sandbox> {
  return newSandbox({ isolation, rootDir: newProject(manager), ...options })
}

/** Every file of the user's caches with its hash. */
async function listing(): Promise<string> {
  const command =
    'find .npm/_cacache .local/share/pnpm/store/v*/files -type f | sort | xargs sha256sum; find .npm/_cacache -printf "%m %p\\n" | sort'
  return (await call('sh', ['-c', command], { cwd: home, maxBuffer: 1e7 })).stdout
}

/** A registry with one package, that lets its answers be kept. */
async function startRegistry(): Promise<Server> {
  const source = newRoot()
  mkdirSync(join(source, 'package'))
  writeFileSync(join(source, 'package/package.json'), '{"name":"there","version":"1.0.0"}')
  writeFileSync(join(source, 'package/index.js'), contents)
  await call('tar', ['czf', 'there.tgz', 'package'], { cwd: source })
  const tarball = readFileSync(join(source, 'there.tgz'))
  rmSync(join(source, 'there.tgz'))
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  const started = createServer((request, response) => {
    response.setHeader('cache-control', 'public, max-age=31536000')
    if (request.url?.endsWith('.tgz') === true) {
      response.setHeader('content-type', 'application/octet-stream')
      response.end(tarball)
      return
    }
    response.setHeader('content-type', 'application/json')
    const manifest = {
      name: 'there',
      version: '1.0.0',
      dist: { tarball: `${registry}there/-/there-1.0.0.tgz`, integrity },
    }
    const times = { created: '2020-01-01T00:00:00.000Z', '1.0.0': '2020-01-01T00:00:00.000Z' }
    response.end(
      JSON.stringify({
        name: 'there',
        'dist-tags': { latest: '1.0.0' },
        time: { ...times, modified: times.created },
        versions: { '1.0.0': manifest },
      }),
    )
  })
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return started
}

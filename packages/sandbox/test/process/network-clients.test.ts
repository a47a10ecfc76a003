import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { describeNetworks, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

vi.mock(import('../../src/egress/judge.ts'), async (load) => {
  const { withLocalJudge } = await import('../fixtures/local-judge.ts')
  return withLocalJudge(await load())
})

const node = realpathSync(process.execPath)
const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())

/** Each asks for the URL and prints what it says; a CA of our own is in `ca.pem`. */
const clients: Readonly<Record<string, (url: string) => string>> = {
  curl: (url) => `curl -sS -m 9 --cacert ca.pem ${url}`,
  wget: (url) => `wget -q -T 9 -t 1 --ca-certificate=ca.pem -O - ${url}`,
  'Node fetch': (url) =>
    `NODE_EXTRA_CA_CERTS=ca.pem ${node} -e 'fetch("${url}").then((r) => r.text()).then(console.log)'`,
  'Node https': (url) =>
    `NODE_EXTRA_CA_CERTS=ca.pem ${node} -e 'require("https").get("${url}", (r) => r.pipe(process.stdout))'`,
  'Python urllib': (url) =>
    `SSL_CERT_FILE=ca.pem /usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("${url}", timeout=9).read().decode())'`,
  git: (url) => `git -c http.sslCAInfo=ca.pem ls-remote ${url}/repository.git | cut -f 2`,
  npm: (url) =>
    `NODE_EXTRA_CA_CERTS=ca.pem ${node} ${npm} view hello version --registry ${url}/npm/ --cache ./cache --fetch-retries=0 --no-update-notifier`,
}
const hasCertificates = isInstalled('openssl')

function programOf(name: string): string {
  if (name.startsWith('Python')) return 'python3'
  return name.startsWith('Node') ? 'node' : name
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

const answers: Readonly<Record<string, string>> = { git: 'refs/heads/main', npm: '1.2.3' }

function answer(url: string): string {
  if (url.startsWith('/repository.git/info/refs')) {
    return `${'1'.repeat(40)}\trefs/heads/main\n`
  }
  if (url === '/npm/hello') {
    const version = { name: 'hello', version: '1.2.3', dist: { tarball: 'https://good.test/x' } }
    return JSON.stringify({
      name: 'hello',
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': version },
    })
  }
  return 'hello'
}

describeNetworks('clients of hosts', (isolation) => {
  const keys = mkdtempSync(join(tmpdir(), 'smithers-keys-'))
  let server: Server | undefined
  let port: number
  let seen: string[] = []
  beforeAll(async () => {
    if (!hasCertificates) return
    const names = 'subjectAltName=DNS:good.test,DNS:evil.test'
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-subj',
        '/CN=good.test',
        '-addext',
        names,
        '-keyout',
        join(keys, 'key.pem'),
        '-out',
        join(keys, 'ca.pem'),
        '-days',
        '2',
      ],
      { stdio: 'ignore' },
    )
    const [key, cert] = ['key.pem', 'ca.pem'].map((name) => readFileSync(join(keys, name)))
    server = createServer({ key, cert }, (request, response) => {
      seen.push(String(request.headers.host))
      response.end(answer(request.url ?? ''))
    })
    server.on('tlsClientError', () => seen.push('TLS'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server?.close()
    rmSync(keys, { recursive: true })
  })

  describe('over TLS', () => {
    test.for(Object.entries(clients))(
      '%s reaches what is allowed, and nothing else',
      { timeout: 60_000 },
      async ([name, client], { skip }) => {
        skip(!isInstalled(programOf(name)), `${name} is not installed`)
        skip(!hasCertificates, 'openssl is not installed')
        const rootDir = newRoot()
        writeFileSync(join(rootDir, 'ca.pem'), readFileSync(join(keys, 'ca.pem')))
        const sandbox = await newSandbox({
          rootDir,
          isolation,
          files: { read: [dirname(dirname(node)), dirname(dirname(npm))] },
          network: { allow: [`good.test:${port}`] },
        })
        seen = []
        const good = await sandbox.run('sh', ['-c', client(`https://good.test:${port}`)])
        expect(`${good.stdout}${good.stderr}`.trim()).toBe(answers[name] ?? 'hello')
        expect(good.violations).toEqual([])
        expect(new Set(seen)).toEqual(new Set([`good.test:${port}`]))
        seen = []
        const evil = await sandbox.run('sh', ['-c', client(`https://evil.test:${port}`)])
        expect(evil.violations).toMatchObject([
          { rule: 'network.allow', subject: `evil.test:${port}` },
        ])
        const alone = await sandbox.run('sh', [
          '-c',
          `unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy; ${client(`https://good.test:${port}`)}`,
        ])
        expect(alone.stdout).not.toContain('hello')
        expect(seen).toEqual([])
      },
    )
  })
})

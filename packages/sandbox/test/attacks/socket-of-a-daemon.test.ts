import { chmodSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/** Sends a line to a listening socket in every way that does not need the network. */
const program = `
import os, socket, sys, threading, time
path = sys.argv[1]
def attempt(action):
    try: action()
    except OSError: pass
def stream(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.settimeout(3); s.connect(address); s.sendall(b"reached")
attempt(lambda: stream(path))
attempt(lambda: stream(os.path.relpath(path)))
attempt(lambda: os.symlink(path, "link"))
attempt(lambda: stream("link"))
def by_descriptor():
    held = os.open(os.path.dirname(path), os.O_PATH)
    stream("/proc/self/fd/%d/%s" % (held, os.path.basename(path)))
attempt(by_descriptor)
def datagram(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s: s.sendto(b"reached", address)
attempt(lambda: datagram(path))
def pair():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"reached", path)
attempt(pair)
attempt(lambda: stream("\\0" + path))
# Names are exchanged while the call is judged.
attempt(lambda: os.symlink(path, "out"))
done = False
def exchange():
    while not done:
        for target in ("own", path):
            attempt(lambda: os.symlink(target, "spare")); attempt(lambda: os.rename("spare", "name"))
own = socket.socket(socket.AF_UNIX); own.bind("own"); own.listen(1000); own.settimeout(0)
thread = threading.Thread(target=exchange); thread.start()
# A busy machine can show the name at one and the same moment of each exchange for a while.
mine, tries, end = 0, 0, time.monotonic() + 30
while tries < int(sys.argv[2]) or (mine == 0 and time.monotonic() < end):
    tries += 1
    attempt(lambda: stream("name"))
    try:
        while True: own.accept()[0].close(); mine += 1
    except OSError: pass
done = True; thread.join()
print("own", mine > 0)
`

describeConfined('the socket of a daemon outside', (confinement) => {
  let server: Server
  let path: string
  let reached = 0
  beforeAll(async () => {
    const directory = confinement.directory()
    path = join(directory, 'daemon.socket')
    server = createServer((socket) => {
      reached += 1
      socket.on('error', () => {}).resume()
    })
    await once(server.listen(path), 'listening')
    chmodSync(directory, 0o755)
    chmodSync(path, 0o777)
  })
  afterAll(() => void server.close())

  test('is reached by no path, link, descriptor, datagram or exchange of names', async () => {
    expect(statSync(path).isSocket()).toBe(true)
    const argv = ['/usr/bin/python3', '-c', program, path, '2000'] as const
    const { stdout, stderr } = await confinement.run(confinement.directory(), argv)
    expect([stdout, stderr, reached]).toEqual(['own True\n', '', 0])
  })

  test('is reached by the same program where nothing confines it', async () => {
    await confinement.runFreely(confinement.directory(), [
      '/usr/bin/python3',
      '-c',
      program,
      path,
      '20',
    ])
    await expect.poll(() => reached).toBeGreaterThan(3)
    reached = 0
  })
})

describeConfined('a socket in the root', (confinement) => {
  test('connects the processes of one command, blocking or not', async () => {
    const script = `
import os, socket, threading
def serve(listener):
    client, _ = listener.accept(); client.sendall(client.recv(10).upper()); client.close()
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    name = "server%d" % kind
    listener = socket.socket(socket.AF_UNIX, kind); listener.bind(name); listener.listen()
    threading.Thread(target=serve, args=(listener,)).start()
    client = socket.socket(socket.AF_UNIX, kind)
    os.set_inheritable(client.fileno(), True)
    client.connect(os.path.abspath(name)); client.sendall(b"word")
    print(client.recv(10), client.getblocking(), os.get_inheritable(client.fileno()))
try: socket.socket(socket.AF_UNIX).connect("absent")
except OSError as error: print(error.errno)
`
    const argv = ['/usr/bin/python3', '-c', script] as const
    const { stdout, stderr } = await confinement.run(confinement.directory(), argv)
    expect([stdout, stderr]).toEqual(["b'WORD' True True\nb'WORD' True True\n2\n", ''])
  })
})

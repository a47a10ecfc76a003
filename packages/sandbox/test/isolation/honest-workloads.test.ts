import { chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'

function project(confinement: Confinement, files: Readonly<Record<string, string>>): string {
  const root = confinement.directory()
  const { uid, gid } = statSync(root)
  for (const [name, contents] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
    for (let own = path; own !== root; own = dirname(own)) chownSync(own, uid, gid)
  }
  return root
}

const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}

describeConfined('an honest command', (confinement) => {
  const shell = (root: string, script: string, env = {}, policy = {}) =>
    confinement.run(root, ['sh', '-c', script], { env, policy })

  test('uses git: init, status, add, commit, branch, stash, log', async () => {
    const root = project(confinement, { 'a.txt': 'one\n' })
    const first = await shell(
      root,
      'git init -q -b main . && git add . && git commit -q -m first',
      identity,
    )
    expect(first).toEqual({ status: 0, stdout: '', stderr: '' })
    // From now on its hooks and its configuration are protected.
    const policy = { protect: ['.git/hooks', '.git/config'] }
    const script =
      'echo two >> a.txt && git status --short && git stash push -q && git stash pop -q && git checkout -q -b side && git commit -q -a -m second && git gc -q && git log --format=%s && git diff --stat main side | tail -1'
    const { status, stdout, stderr } = await shell(root, script, identity, policy)
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: ' M a.txt\nsecond\nfirst\n 1 file changed, 1 insertion(+)\n',
      stderr: '',
    })
  })

  test('runs `npm test` of a project through a login shell, offline', async () => {
    const root = project(confinement, {
      'package.json': JSON.stringify({
        name: 'p',
        version: '1.0.0',
        scripts: { test: 'node --test' },
      }),
      'sum.test.js':
        "const test = require('node:test'); test('adds', () => require('node:assert').equal(1 + 1, 2))\n",
    })
    const { status, stdout, stderr } = await confinement.run(root, ['sh', '-lc', 'npm test'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/pass 1\b/)
  })

  test('runs node: worker threads, a server and a client, child processes, DNS of localhost', async () => {
    // Where the addresses of the machine are out of reach, a server listens on a path.
    const [place, address] =
      confinement.backend === 'landlock'
        ? ["'./server.socket'", "'./server.socket'"]
        : ["{ port: 0, host: 'localhost' }", "{ host: 'localhost', port: server.address().port }"]
    if (confinement.backend === 'landlock') {
      expect(await confinement.reportedLimitations({})).toContain('NO_LOOPBACK')
    }
    const root = project(confinement, {
      'main.mjs': `
import { connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
if (process.argv[2] === 'child') { process.send('forked'); process.exit() }
const [sum] = await once(new Worker('require("node:worker_threads").parentPort.postMessage(40 + 2)', { eval: true }), 'message')
const server = createServer((socket) => socket.end('served')).listen(${place})
await once(server, 'listening')
let body = ''
for await (const chunk of connect(${address}).setEncoding('utf8')) body += chunk
server.close()
const [message] = await once(fork('main.mjs', ['child']), 'message')
console.log(sum, body, message, execFileSync('echo', ['executed'], { encoding: 'utf8' }).trim())
`,
    })
    const { status, stdout, stderr } = await confinement.run(root, [confinement.node, 'main.mjs'])
    expect([status, stdout, stderr]).toEqual([0, '42 served forked executed\n', ''])
  })

  test('runs python: multiprocessing, a shared semaphore, sqlite, temporary files, a pseudo-terminal', async () => {
    if (confinement.backend === 'landlock') {
      const missing = await confinement.reportedLimitations({})
      expect(missing).toContain('NO_SHARED_MEMORY')
      expect(missing).toContain('NO_TERMINALS')
      const script = `
import concurrent.futures, multiprocessing, sqlite3, tempfile
def square(n, pipe): pipe.send(n * n)
if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.Process(target=square, args=(3, theirs))
    child.start()
    print(ours.recv(), child.join())
    with sqlite3.connect("data.db") as database:
        print(database.execute("select sqlite_version() is not null").fetchone())
    with tempfile.NamedTemporaryFile() as file: print(file.write(b"abc"))
    with concurrent.futures.ThreadPoolExecutor() as pool: print(list(pool.map(abs, [-1])))
`
      const root = project(confinement, { 'main.py': script })
      const ran = await confinement.run(root, ['/usr/bin/python3', 'main.py'])
      expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, '9 None\n(1,)\n3\n[1]\n', ''])
      return
    }
    const root = project(confinement, {
      'main.py': `
import multiprocessing, os, pty, sqlite3, tempfile
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.Manager() as manager, multiprocessing.Pool(2) as pool:
        shared = manager.list(pool.map(square, range(4)))
        print(list(shared))
    with sqlite3.connect("data.db") as database:
        print(database.execute("select sqlite_version() is not null").fetchone())
    with tempfile.NamedTemporaryFile() as file: print(file.write(b"abc"))
    main, side = pty.openpty()
    print(os.isatty(side))
`,
    })
    const { status, stdout, stderr } = await confinement.run(root, ['/usr/bin/python3', 'main.py'])
    expect([status, stdout, stderr]).toEqual([0, '[0, 1, 4, 9]\n(1,)\n3\nTrue\n', ''])
  })

  test('compiles and runs a C program with make', async () => {
    const root = project(confinement, {
      'hello.c': '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
      Makefile: 'hello: hello.c\n\tgcc -O1 -o $@ $<\n\t./hello\n',
    })
    const { status, stdout, stderr } = await shell(root, 'make -s && awk "BEGIN { print 1 + 1 }"')
    expect([status, stdout, stderr]).toEqual([0, 'hello\n2\n', ''])
  })

  test('has a home, a temporary directory, a user name, a time zone and devices', async () => {
    const temporary = confinement.backend === 'landlock' ? '"$TMPDIR"' : '/tmp'
    const script =
      `echo x > "$HOME/.cache-file" && echo y > ${temporary}/file && cat "$HOME/.cache-file" ${temporary}/file &&` +
      '  mktemp >/dev/null && date +%Z >/dev/null && head -c 4 /dev/urandom | wc -c && echo z > /dev/null && hostname >/dev/null; echo $?'
    const { stdout, stderr } = await shell(confinement.directory(), script)
    expect([stdout, stderr]).toEqual(['x\ny\n4\n0\n', ''])
  })

  test('finds its exit code, its signal and its arguments unchanged', async () => {
    const root = confinement.directory()
    expect((await confinement.run(root, ['sh', '-c', 'exit 42'])).status).toBe(42)
    expect((await confinement.run(root, ['sh', '-c', 'kill -9 $$'])).status).toBe(137)
    const odd = ['--', '-n', '', 'a b', '$HOME', '*', '\n', 'ü']
    const { stdout } = await confinement.run(root, ['printf', '[%s]', ...odd])
    expect(stdout).toBe(odd.map((argument) => `[${argument}]`).join(''))
  })

  test('starts in the wanted directory', async () => {
    const root = project(confinement, { 'a/b/c.txt': 'x' })
    const { stdout } = await confinement.run(root, ['pwd', '-P'], { cwd: join(root, 'a/b') })
    expect(stdout).toBe(`${root}/a/b\n`)
  })
})

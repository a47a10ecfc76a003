import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

describe('smithers exec', () => {
  test('prints what the command prints, reports on stderr and exits with its exit code', async () => {
    const root = temporaryFolder()
    const { exitCode, stdout, stderr } = await runSmithers(
      ['exec', '--', 'sh', '-c', 'echo out; echo err >&2; echo kept > kept.txt; exit 7'],
      { cwd: root },
    )
    expect(stdout).toBe('out\n')
    expect(stderr).toMatch(/^err\nsmithers: exit code 7, /)
    expect(stderr).toMatch(/^ {2}sandbox {2}\w+: files \S+, network \S+, kill \S+/m)
    expect(exitCode).toBe(7)
    expect(readFileSync(join(root, 'kept.txt'), 'utf8')).toBe('kept\n')
  })

  test('passes every argument after the name of the command on, options too', async () => {
    const { stdout } = await runSmithers(['exec', 'echo', '--json', '--help', '-x'], {
      cwd: temporaryFolder(),
    })
    expect(stdout).toBe('--json --help -x\n')
  })

  test('changes nothing outside the root, where files are enforced', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'root'))
    const outside = join(folder, 'outside.txt')
    const script = `echo x > ${outside}`
    // The control: nothing but the sandbox prevents it.
    await execa('sh', ['-c', script])
    expect(existsSync(outside)).toBe(true)
    rmSync(outside)
    const sandbox = await createSandbox({ rootDir: join(folder, 'root'), warn() {} })
    const { files } = sandbox.report.enforced
    await sandbox.close()
    await runSmithers(['exec', '--', 'sh', '-c', script], {
      cwd: join(folder, 'root'),
    })
    expect(existsSync(outside)).toBe(files === 'none')
  })

  test('says what the command asked of the network, and that it was refused', async () => {
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, 'ask.mjs'),
      `import { connect } from 'node:net'
const proxy = new URL(process.env.HTTPS_PROXY ?? process.env.https_proxy ?? 'http://127.0.0.1:9')
const credentials = Buffer.from(decodeURIComponent(proxy.username) + ':' + decodeURIComponent(proxy.password)).toString('base64')
const socket = connect(Number(proxy.port), proxy.hostname, () => {
  socket.write('CONNECT example.test:443 HTTP/1.1\\r\\nHost: example.test:443\\r\\nProxy-Authorization: Basic ' + credentials + '\\r\\n\\r\\n')
})
socket.on('data', () => socket.end())
socket.on('error', () => {})
`,
    )
    const json = await runSmithers(['exec', '--json', '--', process.execPath, 'ask.mjs'], {
      cwd: folder,
    })
    const document = JSON.parse(json.stdout) as {
      seesNetwork: boolean
      network?: { decisions: object[] }
    }
    if (!document.seesNetwork) return
    expect(document.network?.decisions).toMatchObject([
      { host: 'example.test', port: 443, allowed: false },
    ])
    const { stderr } = await runSmithers(['exec', '--', process.execPath, 'ask.mjs'], {
      cwd: folder,
    })
    expect(stderr).toMatch(/^ {2}network {2}refused example\.test:443/m)
  })

  test('exits with 127 for an unknown command, 124 after the time limit, 126 when a rule refuses', async () => {
    const root = temporaryFolder()
    const missing = await runSmithers(['exec', '--', 'no-such-command'], { cwd: root })
    expect(missing.exitCode).toBe(127)
    expect(missing.stderr).toContain('TOOL_SPAWN_FAILED')
    const slow = await runSmithers(['exec', '--timeout-ms', '200', '--', 'sleep', '60'], {
      cwd: root,
    })
    expect(slow.exitCode).toBe(124)
    const json = await runSmithers(['exec', '--json', '--', 'git', 'push', 'origin'], { cwd: root })
    const { status } = JSON.parse(json.stdout) as { status: string }
    if (status === 'refused') expect(json.exitCode).toBe(126)
  })
})

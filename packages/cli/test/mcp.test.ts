import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'

const program = join(import.meta.dirname, '../src/smithers.ts')
const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
}

/** Starts `smithers mcp` with these options, and more flags of Node. */
function start(options: readonly string[], more: readonly string[] = []) {
  return execa(process.execPath, [...flags, ...more, program, 'mcp', ...options], {
    reject: false,
    // Five seconds after SIGTERM, execa would send SIGKILL.
    forceKillAfterDelay: false,
  })
}

/** A folder that lasts as long as the test, with a file. */
function createRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-mcp-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'a.txt'), 'alpha\n')
  return root
}

/** What the program has printed so far, from now on. */
function printedBy({ stdout }: ReturnType<typeof start>): () => string {
  let printed = ''
  stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  return () => printed
}

/** The status with which a request to begin is answered that addresses this host. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const all = {
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    ...headers,
  }
  const sent = request(url, { method: 'POST', headers: all }, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  sent.on('error', reject)
  sent.end(JSON.stringify(initialize))
  return promise
}

describe('smithers mcp', () => {
  it('serves the tools in its root until the client leaves', async () => {
    const root = createRoot()
    const running = start(['--root', root, '--read-only'])
    const printed = printedBy(running)
    const call = (id: number, name: string, args: object): object => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
    }
    for (const message of [
      initialize,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call(2, 'read', { path: 'a.txt' }),
      call(3, 'write', { path: 'a.txt', content: 'changed' }),
    ]) {
      running.stdin.write(`${JSON.stringify(message)}\n`)
    }
    for (const id of [1, 2, 3]) await expect.poll(printed).toContain(`"id":${id}`)
    running.stdin.end()
    expect(await running).toMatchObject({ exitCode: 0 })
    const answers = printed()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number })
    const [begun, read, written] = answers.toSorted((a, b) => a.id - b.id)
    expect(begun).toMatchObject({ result: { instructions: expect.stringContaining(root) } })
    expect(read).toMatchObject({ result: { content: [{ text: 'alpha\n' }] } })
    expect(written).toMatchObject({
      error: { message: expect.stringContaining('glob, grep, read') },
    })
  })

  it('serves other machines with a token, by the names of --allow-host', async () => {
    const root = createRoot()
    const tokenFile = join(createRoot(), 'token')
    writeFileSync(tokenFile, 'a-token-of-the-operator\n')
    const http = ['--root', root, '--http', '0', '--host', '0.0.0.0', '--token-file', tokenFile]
    const refused = await start(http)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('--allow-host tools.example')

    const running = start([...http, '--allow-host', 'tools.example'])
    const printed = printedBy(running)
    await expect.poll(printed).toMatch(/^http:.*\n/)
    const url = printed().trim().replace('tools.example', '127.0.0.1')
    const Authorization = 'Bearer a-token-of-the-operator'
    expect(await statusOf(url, { Authorization, Host: 'tools.example' })).toBe(200)
    expect(await statusOf(url, { Authorization, Host: 'attacker.example' })).toBe(403)
    expect(await statusOf(url, { Host: 'tools.example' })).toBe(401)
    running.kill('SIGTERM')
    expect(await running).toMatchObject({ exitCode: 0 })
  })

  it('refuses a wrong option as mcp-server does', async () => {
    const { exitCode, stderr, stdout } = await start(['--root', '/no/such/directory'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^smithers mcp: .*cannot be served/)
  })

  it('calls itself by its own name in its help', async () => {
    const { exitCode, stdout } = await start(['--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^Usage: smithers mcp \[options\]$/m)
    expect(stdout).not.toContain('mcp-server')
  })

  it('names the package to install where it is missing', async () => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier !== '@smithers/mcp-server') return next(specifier, context)
          throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
        },
      })`
    const missing = `data:text/javascript,${encodeURIComponent(hook)}`
    const { exitCode, stderr } = await start(['--root', createRoot()], ['--import', missing])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('npm install @smithers/mcp-server')
  })
})

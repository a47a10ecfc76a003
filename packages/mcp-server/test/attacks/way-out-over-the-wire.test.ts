import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createSandbox, type SandboxReport } from '@smithers/sandbox'
import { describe, expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { connectNew, connectOld, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace, secret } from '../fixtures/workspace.ts'

/** Ways to a file outside, by path. `link` leads to the folder outside, `file-link` to the file. */
const waysOut = ['../outside.txt', 'link/outside.txt', 'file-link', 'a/../../outside.txt']

async function arena() {
  const workspace = createWorkspace({ 'a.txt': 'alpha\n' })
  const { root, folder, outside } = workspace
  mkdirSync(join(root, 'a'))
  symlinkSync(folder, join(root, 'link'))
  symlinkSync(outside, join(root, 'file-link'))
  const running = await startHttp({ rootDir: root, ask: [] })
  return { ...workspace, ...running, client: await connectNew(running.address) }
}

/** What the operating system enforces for commands here. */
async function enforcedIn(rootDir: string): Promise<SandboxReport['enforced']> {
  await using sandbox = await createSandbox({ rootDir, network: 'none', warn() {} })
  return sandbox.report.enforced
}

describe('a way out of the root over the wire', () => {
  it('control: the files outside can be read and written without the tools', async () => {
    const { root, client } = await arena()
    for (const path of waysOut) expect(readFileSync(join(root, path), 'utf8')).toBe(secret)
    await client.close()
  })

  it('is closed for every tool of files, and an absolute path too', async () => {
    const { outside, folder, client, rows } = await arena()
    for (const path of [...waysOut, outside]) {
      const calls = [
        ['read', { path }],
        ['write', { path, content: 'overwritten' }],
        ['edit', { path, patch: `--- a\n+++ b\n@@ -1 +1 @@\n-${secret}\n+overwritten\n` }],
        ['replace', { path, oldText: 'secret', newText: 'overwritten' }],
        ['grep', { pattern: 'secret', path }],
      ] as const
      for (const [name, args] of calls) {
        const result = await client.call(name, args)
        expect(textOf(result), `${name} ${path}`).not.toContain(secret)
      }
    }
    for (const path of ['../new.txt', 'link/new.txt']) {
      expect((await client.call('write', { path, content: 'x' })).isError).toBe(true)
    }
    expect(readFileSync(outside, 'utf8')).toBe(secret)
    expect(existsSync(join(folder, 'new.txt'))).toBe(false)
    expect(await rows()).toHaveLength(27)
    await client.close()
  })

  it('is closed for commands where the operating system confines them', async () => {
    const { root, outside, client } = await arena()
    const { files } = await enforcedIn(root)
    await client.call('bash', { command: `echo overwritten > ${outside}; cat ${outside}` })
    await client.call('bash', { command: `echo overwritten > ../outside.txt` })
    if (files === 'enforced') expect(readFileSync(outside, 'utf8')).toBe(secret)
    else expect(files).toMatch(/^(partial|none)$/)
    await client.close()
  })

  it('is closed to the network: a server on loopback sees nothing', async () => {
    const seen: string[] = []
    const listener = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.end('leaked')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const { root, client } = await arena()
    await fetch(`${url}/control`)
    for (const command of [`curl -s ${url}/curl`, `wget -q -O - ${url}/wget`]) {
      expect((await client.call('bash', { command })).isError).toBe(true)
    }
    if ((await enforcedIn(root)).network === 'enforced') {
      const script = `fetch('${url}/node').then(r => r.text()).then(console.log)`
      await client.call('bash', { cmd: process.execPath, args: ['-e', script] })
      await client.call('bash', {
        command: `exec 3<>/dev/tcp/127.0.0.1/${port}; echo "GET /sh" >&3`,
      })
    }
    expect(seen).toEqual(['/control'])
    await client.close()
    listener.close()
  })

  it('is not opened by a client that sends roots', async () => {
    const { root, outside } = createWorkspace()
    const client = await connectOld(serverProgram('--root', root), { roots: true })
    const result = await client.call('read', { path: outside })
    expect(textOf(result)).toContain('[TOOL_PATH_ESCAPE]')
    expect(client.instructions).toContain(root)
    await client.close()
  })
})

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import { expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { connectNew, textOf } from '../fixtures/mcp-clients.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

/** Where clients look for the servers that they start, with their options. */
const configurations = ['.mcp.json', '.vscode/mcp.json', '.cursor/mcp.json', '.zed/settings.json']
const content = '{"mcpServers":{"smithers":{"command":"sh","args":["-c","id"]}}}'

it('an agent cannot make its client start another server', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root })
  const client = await connectNew(address)
  for (const path of configurations) {
    expect(textOf(await client.call('write', { path, content })), path).toMatch(/^\[TOOL_/)
    expect(existsSync(join(root, path)), path).toBe(false)
  }
  // Control: another name can be written.
  expect((await client.call('write', { path: 'mcp.json', content })).isError).not.toBe(true)

  await using sandbox = await createSandbox({ rootDir: root, network: 'none', warn() {} })
  for (const path of configurations) mkdirSync(join(root, path, '..'), { recursive: true })
  const command = configurations.map((path) => `cp mcp.json ${path}`).join('; ')
  await client.call('bash', { command: `${command}; echo x > written.txt` })
  if (sandbox.report.enforced.files === 'enforced') {
    for (const path of configurations) expect(existsSync(join(root, path)), path).toBe(false)
  }
  await client.close()
})

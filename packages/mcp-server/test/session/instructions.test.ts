import { createMcpServer, type McpServerOptions } from '@smithers/mcp-server'
import { expect, it } from 'vitest'
import { stdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

/** What a client is told of network and isolation. */
async function told(options: Omit<McpServerOptions, 'rootDir'>): Promise<readonly string[]> {
  const pair = await stdioPair(createMcpServer({ rootDir: createWorkspace().root, ...options }))
  const clientInfo = { name: 'raw', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  pair.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const { result } = await pair.answer(0)
  await pair.served.close()
  const { instructions } = result as { readonly instructions: string }
  return instructions.split('\n').slice(1)
}

it('a client is told what holds for commands, as far as it holds on every machine', async () => {
  const [network, isolation] = await told({ isolation: 'auto' })
  expect(network).toContain('should reach nothing; the operating system enforces it where it can')
  expect(isolation).toContain('as far as it can here')
  expect((await told({ isolation: 'require' })).join()).toMatch(
    /reach nothing; the operating system enforces it.*run only where/,
  )
  expect((await told({ isolation: 'none' })).join()).toMatch(
    /only a check of the command line.*does not confine commands/,
  )
})

it('a client is told that commands reach every host, or that there are none', async () => {
  expect((await told({ allowNetwork: true }))[0]).toBe('Network: commands reach every host.')
  expect(await told({ readOnly: true })).toEqual([
    'Network: none.',
    'Isolation: no commands are run.',
  ])
})

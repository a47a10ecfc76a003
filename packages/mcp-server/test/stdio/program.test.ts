import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyClient, type CallResult, lines, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { fillWorkspace, type Workspace } from '../fixtures/workspace.ts'

describe.each(lines)('the program over stdio with %s', (line, connect) => {
  let folder: string
  let workspace: Workspace
  let client: AnyClient
  const results = new Map<string, CallResult>()

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-program-')))
    workspace = fillWorkspace(folder, { 'a.txt': 'alpha\nbeta\n' })
    const { root, logPath } = workspace
    client = await connect(serverProgram('--root', root, '--log', logPath))
    for (const [name, args] of [
      ['read', { path: 'a.txt' }],
      ['write', { path: 'b.txt', content: 'one\n' }],
      ['edit', { path: 'b.txt', patch: '--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+two\n' }],
      ['replace', { path: 'a.txt', oldText: 'beta', newText: 'gamma' }],
      ['grep', { pattern: 'gam+a' }],
      ['glob', { pattern: '*.txt' }],
      ['bash', { command: 'echo out; cat b.txt' }],
      ['read', { path: '../outside.txt' }],
      ['read', { file: 'a.txt' }],
    ] as const) {
      results.set(`${name} ${JSON.stringify(args)}`, await client.call(name, args))
    }
    await client.call('no_such_tool', { a: 1 }).then(
      () => results.set('no_such_tool', { content: [] }),
      (error: Error) =>
        results.set('no_such_tool', { content: [{ type: 'text', text: error.message }] }),
    )
  })
  afterAll(async () => {
    await client.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const textOfCall = (beginning: string): string => {
    const [, result] = [...results].find(([call]) => call.startsWith(beginning)) ?? []
    return result === undefined ? `no call ${beginning}` : textOf(result)
  }

  it('speaks the protocol of the client', () => {
    expect(line).toContain(client.protocol)
  })

  it('lists the seven tools with schemas and hints', async () => {
    const tools = await client.list()
    expect(tools.map(({ name }) => name)).toEqual([
      'bash',
      'edit',
      'glob',
      'grep',
      'read',
      'replace',
      'write',
    ])
    expect(tools.find(({ name }) => name === 'read')).toMatchObject({
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    })
    expect(tools.find(({ name }) => name === 'bash')?.annotations).toEqual({
      readOnlyHint: false,
      idempotentHint: false,
      destructiveHint: true,
      openWorldHint: false,
    })
  })

  it('calls every tool', () => {
    expect(textOfCall('read {"path":"a')).toBe('alpha\nbeta\n')
    expect(readFileSync(join(workspace.root, 'b.txt'), 'utf8')).toBe('two\n')
    expect(readFileSync(join(workspace.root, 'a.txt'), 'utf8')).toBe('alpha\ngamma\n')
    expect(textOfCall('grep')).toContain('a.txt:2:gamma')
    expect(textOfCall('glob')).toContain('b.txt')
    expect(textOfCall('bash')).toBe('out\ntwo\n')
  })

  it('answers failures with their code, and an unknown tool with an error of the protocol', () => {
    expect(textOfCall('read {"path":"../')).toContain('[TOOL_PATH_ESCAPE]')
    expect(textOfCall('read {"file"')).toContain('[INVALID_INPUT]')
    expect(textOfCall('no_such_tool')).toContain('Unknown tool "no_such_tool"')
  })

  it('says root, network and isolation in three lines', () => {
    expect(client.instructions.split('\n')).toEqual([
      expect.stringContaining(`Root: the tools work in ${workspace.root}`),
      expect.stringMatching(/^Network: commands should reach nothing; .* where it can\.$/),
      expect.stringMatching(/^Isolation: auto; .* "smithers doctor" shows\.$/),
    ])
  })

  it('has one row for each call, also for the unknown tool and the wrong arguments', async () => {
    const log = createSqliteLog({ path: workspace.logPath })
    const rows = await log.list({})
    await log.close()
    expect(rows.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
      'read success',
      'write success',
      'edit success',
      'replace success',
      'grep success',
      'glob success',
      'bash success',
      'read error',
      'read error',
      'no_such_tool error',
    ])
    expect(new Set(rows.map(({ runId }) => runId)).size).toBe(1)
    expect(rows[0]?.runId).toMatch(/^mcp-/)
    expect(new Set(rows.map(({ nodeId }) => nodeId)).size).toBe(rows.length)
  })

  it('names the row of a call in its result, and serves it as a resource', async () => {
    const result = results.get('read {"path":"a.txt"}')
    const { _meta: meta } = result ?? { content: [] }
    const call = meta?.['smithers/call'] as { readonly token: string }
    expect(call).toMatchObject({ outcome: 'success', replayed: false, key: expect.any(String) })
    expect(await client.readResource(`smithers-log://calls/${call.token}`)).toMatchObject({
      callToken: call.token,
      toolName: 'read',
      inputJson: '{"path":"a.txt"}',
    })
    expect(await client.readResource('smithers-log://runs/current')).toHaveLength(10)
    await expect(client.readResource('smithers-log://calls/none')).rejects.toThrow(
      /There are no rows/,
    )
  })

  it('leaves the log outside the root', () => {
    expect(existsSync(join(workspace.root, 'calls.db'))).toBe(false)
  })
})

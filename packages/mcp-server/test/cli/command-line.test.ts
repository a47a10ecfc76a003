import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMcpServer } from '@smithers/mcp-server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

describe('a wrong command line', () => {
  let said = ''
  beforeEach(() => {
    said = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text)
      return true
    })
  })
  afterEach(() => vi.restoreAllMocks())

  const refused = async (...args: readonly string[]): Promise<string> => {
    said = ''
    expect(await runMcpServer(args)).toBe(2)
    return said
  }

  it('ends the program before it serves', async () => {
    const { root, folder } = createWorkspace()
    const inRoot = ['--root', root]
    expect(await refused()).toContain("required option '--root <dir>' not specified")
    expect(await refused('--root', join(folder, 'missing'))).toContain('cannot be served')
    expect(await refused('--root', join(folder, 'outside.txt'))).toContain('not a directory')
    expect(await refused(...inRoot, '--tools', 'read,rm')).toContain('names "rm"')
    expect(await refused(...inRoot, '--ask', 'basch')).toContain('names "basch"')
    expect(await refused(...inRoot, '--tools', 'bash', '--read-only')).toContain('no tool is left')
    expect(await refused(...inRoot, '--read-onyl')).toContain('unknown option')
    expect(await refused(...inRoot, '--isolation', 'some')).toContain('Allowed choices')
    expect(await refused(...inRoot, '--max-output-bytes', '1e9')).toContain('whole number')
    expect(await refused(...inRoot, '--max-output-bytes', '99999999')).toContain('maxOutputBytes')
    expect(await refused(...inRoot, 'another')).toContain('too many arguments')
    expect(await refused(...inRoot, '--token', 'x'.repeat(20))).toContain('--token needs --http')
    expect(await refused(...inRoot, '--allow-host', 'a')).toContain('--allow-host needs --http')
    expect(await refused(...inRoot, '--max-sessions', '0')).toContain('needs --http')
    expect(await refused(...inRoot, '--http', '0', '--max-sessions', '-1')).toContain('whole')
    expect(await refused(...inRoot, '--http', '0', '--verify', 'x')).toContain('go together')
  })

  it('names a place for log, token or module that the agent could change', async () => {
    const { root, folder } = createWorkspace({ 'token.txt': 'x'.repeat(20), 'verify.mjs': '' })
    const inRoot = ['--root', root]
    expect(await refused(...inRoot, '--log', join(root, 'calls.db'))).toContain('inside the root')
    symlinkSync(root, join(folder, 'link'))
    expect(await refused(...inRoot, '--log', join(folder, 'link/x.db'))).toContain(
      'inside the root',
    )
    const http = [...inRoot, '--http', '0']
    expect(await refused(...http, '--token-file', join(root, 'token.txt'))).toContain('inside')
    const verify = [
      '--verify',
      join(root, 'verify.mjs'),
      '--public-url',
      'https://tools.example/mcp',
    ]
    expect(await refused(...http, ...verify)).toContain('inside the root')
    expect(await refused(...inRoot, '--state-key-file', join(root, 'token.txt'))).toContain(
      'inside',
    )
  })

  it('is refused when other machines could reach the tools without a token', async () => {
    const { root, folder } = createWorkspace()
    const http = ['--root', root, '--http', '0', '--host', '0.0.0.0']
    expect(await refused(...http)).toContain('not a loopback address')
    writeFileSync(join(folder, 'short'), 'short\n')
    expect(await refused(...http, '--token-file', join(folder, 'short'))).toContain('16 printable')
    writeFileSync(join(folder, 'token'), 'a-token-of-the-operator\n')
    const served = [...http, '--token-file', join(folder, 'token')]
    expect(await refused(...served)).toContain('--allow-host tools.example')
    expect(await refused(...served, '--allow-host', 'http://a')).toContain('got "http://a"')
  })

  it('is not read from files or variables of the workspace', async () => {
    const { root } = createWorkspace()
    mkdirSync(join(root, '.smithers'))
    for (const name of ['.smithers/config.json', '.smithersrc', 'mcp-server.json', '.env']) {
      writeFileSync(join(root, name), '{"allowNetwork":true}\nSMITHERS_ROOT=/\nALLOW_NETWORK=1\n')
    }
    const { createMcpServer } = await import('@smithers/mcp-server')
    const server = createMcpServer({ rootDir: root })
    expect(server.rootDir).toBe(root)
    const session = await server.session({ era: 'modern' })
    expect((session as unknown as { readonly _instructions: string })['_instructions']).not.toMatch(
      /every host/,
    )
    await server.close()
  })
})

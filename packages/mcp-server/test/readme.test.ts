import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { serverCommand } from '../src/cli/server-command.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const program = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal('@smithers/mcp-server')], z.string()),
})

/** The configuration of a client, as its documentation has it: the key that holds its servers. */
function blockOf(client: string): unknown {
  const block = new RegExp(`<!-- client: ${client} -->\\n\\n\`\`\`json\\n(.*?)\`\`\``, 's').exec(
    readme,
  )
  return JSON.parse(block?.[1] ?? 'no block')
}

it.each(['mcpServers', 'servers', 'context_servers'])(
  'the configuration under %s starts the program with options that it has',
  (client) => {
    const configuration = z.strictObject({ [client]: z.record(z.string(), program) })
    const { smithers } = configuration.parse(blockOf(client))[client] as Record<
      string,
      z.infer<typeof program>
    >
    const [, , ...args] = smithers?.args ?? []
    const flags = serverCommand('0.0.0').parse(args, { from: 'user' }).opts()
    expect(flags).toMatchObject({ root: expect.any(String), ask: ['bash'] })
  },
)

it('the configuration over HTTP names our path and sends the token', () => {
  expect(blockOf('http')).toEqual({
    mcpServers: {
      smithers: {
        type: 'http',
        url: 'http://127.0.0.1:8765/mcp',
        headers: { Authorization: expect.stringMatching(/^Bearer /) },
      },
    },
  })
})

it('the configuration of Visual Studio Code over HTTP asks for the token that it sends', () => {
  const { inputs, servers } = blockOf('http-servers') as {
    readonly inputs: readonly { readonly id: string }[]
    readonly servers: { readonly smithers: unknown }
  }
  expect(inputs).toMatchObject([{ type: 'promptString', password: true }])
  expect(servers.smithers).toEqual({
    type: 'http',
    url: 'http://127.0.0.1:8765/mcp',
    headers: { Authorization: `Bearer \${input:${inputs[0]?.id}}` },
  })
})

it('the command of Claude Code starts the program with options that it has', () => {
  const [, line = ''] =
    /^claude mcp add smithers -- npx -y @smithers\/mcp-server (.*)$/m.exec(readme) ?? []
  const flags = serverCommand('0.0.0').parse(line.split(' '), { from: 'user' }).opts()
  expect(flags).toMatchObject({ root: '"$PWD"', ask: ['bash'] })
})

it('each line of the comparison names a test or a benchmark that exists', () => {
  const [, table = ''] = readme.split('| reported elsewhere')
  const named = [
    ...(table.split('\n\n')[0] ?? '').matchAll(/`([\w/-]+\.test\.ts|pnpm bench mcp)`/g),
  ]
  expect(named.length).toBeGreaterThanOrEqual(10)
  for (const [, name = ''] of named) {
    const file = name === 'pnpm bench mcp' ? '../bench/mcp.bench.ts' : name
    expect(existsSync(join(import.meta.dirname, file)), name).toBe(true)
  }
})

it('every option of the program is in the table of options', () => {
  const [, options = ''] = readme.split('## Options')
  const names = serverCommand('0.0.0').options.map(({ long }) => String(long))
  const missing = names.filter((name) => name !== '--version' && !options.includes(`\`${name}`))
  expect(missing).toEqual([])
})

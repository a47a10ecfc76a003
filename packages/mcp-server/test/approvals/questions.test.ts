import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { type Asked, connectNew, lines, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const write = { path: 'a.txt', content: 'written\n' }

// A client of the older protocol can be asked only over a connection, so it runs the program.
describe.each(lines)('a question to the person at %s', (_line, connect) => {
  it('shows what the call would do, and lets it run once after a yes', async () => {
    const { root, logPath } = createWorkspace()
    const asked: Asked[] = []
    const client = await connect(
      serverProgram('--root', root, '--log', logPath, '--ask', 'write'),
      {
        name: 'editor',
        answer: (question) => {
          asked.push(question)
          expect(existsSync(join(root, 'a.txt'))).toBe(false)
          return { action: 'accept', content: { approve: true, comment: 'go on' } }
        },
      },
    )
    try {
      const result = await client.call('write', write)
      expect(textOf(result)).toBe('ok')
      expect(asked).toHaveLength(1)
      expect(asked[0]?.message).toContain('Allow one call of "write"?')
      expect(asked[0]?.message).toContain('+written')
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('written\n')
      const calls = await client.readResource('smithers-log://runs/current')
      expect(calls).toMatchObject([
        { toolName: 'write', status: 'success', attempt: 2 },
        { toolName: 'write', status: 'error', attempt: 1 },
      ])
    } finally {
      await client.close()
    }
  })

  it('leaves the file alone after a no, and tells the agent why', async () => {
    const { root } = createWorkspace()
    const answers = [
      { action: 'accept', content: { approve: false, comment: 'not this file' } },
      { action: 'decline' },
      { action: 'cancel' },
    ] as const
    let next = 0
    const client = await connect(serverProgram('--root', root, '--ask', 'write'), {
      answer: () => answers[next++] ?? { action: 'cancel' },
    })
    try {
      const refused = await client.call('write', write)
      expect(refused.isError).toBe(true)
      expect(textOf(refused)).toBe('[TOOL_APPROVAL_REJECTED] Tool call rejected: not this file')
      for (const again of [await client.call('write', write), await client.call('write', write)]) {
        expect(textOf(again)).toContain('[TOOL_APPROVAL_REJECTED]')
      }
      expect(next).toBe(3)
      expect(existsSync(join(root, 'a.txt'))).toBe(false)
    } finally {
      await client.close()
    }
  })
})

it('asks anew for each call, so that one yes is good for one call', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root, ask: ['bash'] })
  let questions = 0
  const client = await connectNew(address, {
    answer: () => {
      questions += 1
      return { action: 'accept', content: { approve: true } }
    },
  })
  for (const _ of [1, 2]) {
    expect(textOf(await client.call('bash', { command: 'echo x >> a.txt' }))).toBe('(no output)')
  }
  expect(questions).toBe(2)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('x\nx\n')
  await client.close()
})

it('decides in the name of the client', async () => {
  const { root } = createWorkspace()
  const { address, log } = await startHttp({ rootDir: root, ask: ['write'] })
  const client = await connectNew(address, {
    name: 'edi\u001B[2Jtor',
    answer: () => ({ action: 'accept', content: { approve: true, comment: 'fine' } }),
  })
  await client.call('write', write)
  const [approval] = (await log.approvals?.list({})) ?? []
  expect(approval).toMatchObject({ decidedBy: 'mcp:edi\\u001b[2Jtor', comment: 'fine' })
  await client.close()
})

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { type RunningServer, startHttp } from '../fixtures/http-server.ts'
import { connectNew, connectOld, lines, textOf } from '../fixtures/mcp-clients.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const write = { path: 'a.txt', content: 'x\n' }
const yes = () => ({ action: 'accept', content: { approve: true } }) as const

async function decide({ log }: RunningServer, approved: boolean): Promise<void> {
  const [waiting] = await pendingApprovals({ log })
  await resolveToolApproval({ log, id: waiting?.id ?? '', approved, comment: 'by mia' })
}

describe.each(lines)('a decision in the log, with %s', (_line, connect) => {
  it('lets the call run when the agent makes it again, and once', async () => {
    const { root } = createWorkspace()
    const options = { rootDir: root, ask: ['write'], approveWith: 'log' } as const
    const running = await startHttp(options)
    const client = await connect(running.address, { answer: yes })
    expect(textOf(await client.call('write', write))).toMatch(/waits for approval apr_/)
    expect(textOf(await client.call('write', write))).toMatch(/waits for approval apr_/)
    expect(await pendingApprovals({ log: running.log })).toHaveLength(1)
    expect(existsSync(join(root, 'a.txt'))).toBe(false)

    await decide(running, true)
    expect(textOf(await client.call('write', write))).toBe('ok')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('x\n')
    expect(textOf(await client.call('write', write))).toMatch(/waits for approval apr_/)
    await client.close()
  })

  it('tells the agent of a rejection once, and asks anew after it', async () => {
    const { root } = createWorkspace()
    const running = await startHttp({ rootDir: root, ask: ['write'], approveWith: 'log' })
    const client = await connect(running.address)
    await client.call('write', write)
    await decide(running, false)
    expect(textOf(await client.call('write', write))).toContain('Tool call rejected: by mia')
    expect(textOf(await client.call('write', write))).toMatch(/waits for approval apr_/)
    expect(existsSync(join(root, 'a.txt'))).toBe(false)
    await client.close()
  })
})

it('is how a client is asked that cannot show questions', async () => {
  const { root } = createWorkspace()
  const running = await startHttp({ rootDir: root, ask: ['write'] })
  const client = await connectOld(running.address)
  expect(textOf(await client.call('write', write))).toMatch(/waits for approval apr_/)
  await decide(running, true)
  expect(textOf(await client.call('write', write))).toBe('ok')
  await client.close()
})

it('can be used at another process that shares the log, the run and the token', async () => {
  const { root } = createWorkspace()
  const options = { rootDir: root, ask: ['write'], approveWith: 'log', runId: 'shared' } as const
  const token = 'the-same-token-for-both'
  const first = await startHttp(options, { token })
  const second = await startHttp({ ...options, log: first.log }, { token })
  const clients = [await connectNew(first.address), await connectNew(second.address)]
  await clients[0]?.call('write', write)
  await decide(first, true)
  expect(existsSync(join(root, 'a.txt'))).toBe(false)
  expect((await clients[1]?.call('write', write))?.isError).not.toBe(true)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('x\n')
  for (const client of clients) await client.close()
})

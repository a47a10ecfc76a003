import { pendingApprovals, resolveToolApproval, type ToolRunOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { countingServer, curlOf, hasOwnNetwork, networkRun } from '../fixtures/network-run.ts'

const log = (): ToolRunOptions => ({ log: createMemoryLog() })

describe.runIf(hasOwnNetwork)('an approval of one host', () => {
  /** A run in which `approved` alone was approved, by the call that asks for it. */
  async function withApproval(approved: string, others: readonly string[], remember?: 'run') {
    const options: ToolRunOptions = {
      ...log(),
      network: { allow: [approved, ...others], onDecision: () => 'ask' },
    }
    const first = networkRun(options)
    await first.curl(approved).catch(() => {})
    const [{ id } = { id: '' }] = await pendingApprovals({ log: first.log })
    const approvedArgs = remember && { approvedArgs: { remember } }
    await resolveToolApproval({ log: first.log, id, approved: true, ...approvedArgs })
    return networkRun({ ...options, rootDir: first.rootDir, attempt: 2 })
  }

  test('opens that host to its call (control)', async () => {
    const server = await countingServer()
    const { curl } = await withApproval(server.address, [])
    expect(await curl(server.address)).toBe('hello')
    expect(server.requests).toHaveLength(1)
  })

  test.each(['call', 'run'] as const)(
    'does not open another port of it: for the %s',
    async (remember) => {
      const [server, other] = [await countingServer(), await countingServer()]
      const scope = remember === 'run' ? remember : undefined
      const { curl } = await withApproval(server.address, [other.address], scope)
      await expect(curl(other.address)).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
      expect(other.requests).toEqual([])
    },
  )

  test('does not open another host, not even by a redirect or by a Host header', async () => {
    const [server, other] = [await countingServer(), await countingServer('127.0.0.2')]
    const { bash } = await withApproval(server.address, [other.address], 'run')
    const [, proxy] = ['', '"$http_proxy"']
    const script = [
      `curl -sS -m 9 --noproxy '' http://${other.address}/direct`,
      `curl -sS -m 9 --noproxy '' -H 'Host: ${server.address}' http://${other.address}/header`,
      `curl -sS -m 9 --noproxy '' --proxytunnel -x ${proxy} -H 'Host: ${other.address}' http://${other.address}/tunnel`,
      `curl -sS -m 9 --noproxy '' --request-target http://${other.address}/target http://${server.address}/ -o /dev/null`,
    ].join('; ')
    await expect(bash('sh', ['-c', script])).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(other.requests).toEqual([])
  })

  test('does not open it to another command, unless it was given for the run', async () => {
    const server = await countingServer()
    const other = await withApproval(server.address, [])
    const args = ['-A', 'other', ...curlOf(server.address)]
    await expect(other.bash('curl', args)).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(server.requests).toEqual([])
    const forRun = await withApproval(server.address, [], 'run')
    expect(await forRun.bash('curl', args)).toBe('hello')
  })

  test('opens no address that is not public, and nothing that is denied', async () => {
    const server = await countingServer()
    for (const deny of [[], ['127.0.0.1']]) {
      let questions = 0
      const { curl } = networkRun({
        ...log(),
        // No rule mentions the address.
        network: { allow: [], deny, onDecision: () => 'ask' },
        onApproval: () => {
          questions += 1
          return { approved: true }
        },
      })
      await expect(curl(server.address)).rejects.toThrow(
        deny.length === 0 ? 'not an address of the public internet' : 'in network.deny',
      )
      expect(questions).toBe(deny.length === 0 ? 1 : 0)
    }
    expect(server.requests).toEqual([])
  })

  test('cannot be changed by its approver to another host', async () => {
    const server = await countingServer()
    const first = networkRun({
      ...log(),
      network: { allow: [server.address], onDecision: () => 'ask' },
    })
    await first.curl(server.address).catch(() => {})
    const [{ id } = { id: '' }] = await pendingApprovals({ log: first.log })
    for (const approvedArgs of [{ host: 'evil.test' }, { port: 22 }]) {
      const decision = resolveToolApproval({ log: first.log, id, approved: true, approvedArgs })
      await expect(decision).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await pendingApprovals({ log: first.log })).toHaveLength(1)
  })
})

import { createBuiltinTools } from '@smithers/builtin-tools'
import {
  type CallConnections,
  pendingApprovals,
  resolveToolApproval,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { countingServer, curlOf, hasOwnNetwork, networkRun } from '../fixtures/network-run.ts'

const paused = expect.objectContaining({ code: 'TOOL_APPROVAL_REQUIRED' }) as Error

describe.runIf(hasOwnNetwork)('the hosts of a run', () => {
  test('are reached by its commands, and no others', async () => {
    const [good, evil] = [await countingServer(), await countingServer()]
    const { curl } = networkRun({ network: { allow: [good.address] } })
    expect(await curl(good.address)).toBe('hello')
    await expect(curl(evil.address)).rejects.toThrow(
      `Blocked by the sandbox: ${evil.address} is not in network.allow`,
    )
    expect([good.requests.length, evil.requests.length]).toEqual([1, 0])
  })

  test('are in the row of each call with what was decided', async () => {
    const good = await countingServer()
    const { curl, log } = networkRun({ network: { allow: [good.address] } })
    await curl(good.address)
    await curl('evil.test').catch(() => {})
    const uses = (await log.list({})).map(
      ({ networkJson }) => JSON.parse(networkJson ?? '') as CallConnections,
    )
    expect(uses).toMatchObject([
      {
        connections: [
          { host: '127.0.0.1', port: good.port, allowed: true, rule: good.address, count: 1 },
        ],
        omitted: 0,
      },
      { connections: [{ host: 'evil.test', port: 80, allowed: false, reason: 'not-allowed' }] },
    ])
    expect(uses[0]?.connections[0]?.bytesReceived).toBeGreaterThan(5)
  })

  test('give way to the hosts of a bundle, which gives way to none', async () => {
    const [ofRun, ofBundle] = [await countingServer(), await countingServer()]
    const { curl } = networkRun(
      { network: { allow: [ofRun.address] } },
      { network: { allow: [ofBundle.address] } },
    )
    expect(await curl(ofBundle.address)).toBe('hello')
    await expect(curl(ofRun.address)).rejects.toThrow('not in network.allow')
    const closed = networkRun({ network: { allow: [ofRun.address] } }, { allowNetwork: false })
    await expect(closed.curl(ofRun.address)).rejects.toMatchObject({
      code: 'TOOL_NETWORK_DISABLED',
    })
    expect([ofRun.requests.length, ofBundle.requests.length]).toEqual([0, 1])
  })

  test.each<[string, ToolRunOptions]>([
    ['a host', { network: { allow: ['good.test'] } }],
    ['a question', { network: { allow: [], onDecision: 'ask' } }],
  ])("let network programs start where the check is 'basic': %s", async (_, options) => {
    const { bash } = networkRun(options, { commands: 'basic' })
    expect(await bash('curl', ['--version'])).toContain('curl')
    const none = networkRun({ network: { allow: [] } }, { commands: 'basic' })
    await expect(none.bash('curl', ['--version'])).rejects.toMatchObject({
      code: 'TOOL_NETWORK_DISABLED',
    })
  })

  test('make the effect of a command external', async () => {
    const { bash, log } = networkRun({ network: { allow: ['good.test'] } })
    await bash('true', [])
    expect(await log.list({})).toMatchObject([{ effectScope: 'external' }])
  })

  test('are refused with the reason that onDecision gives, and by an answer that it does not have', async () => {
    const server = await countingServer()
    const answers = [{ deny: 'Not on a Sunday.' }, 'alow' as never, null as never]
    const said: string[] = []
    for (const answer of answers) {
      const { curl } = networkRun({
        network: { allow: [server.address], onDecision: () => answer },
      })
      await curl(server.address).catch((error: Error) => said.push(error.message))
    }
    expect(said).toEqual([
      expect.stringContaining(`${server.address} is refused. Not on a Sunday.`),
      expect.stringContaining(`network.onDecision refused ${server.address}`),
      expect.stringContaining(`network.onDecision refused ${server.address}`),
    ])
    expect(server.requests).toEqual([])
  })

  test('belong to the run that decides, though commands share a sandbox', async () => {
    const server = await countingServer()
    const asked: string[] = []
    const deciding = (name: string, answer: 'allow' | 'deny') => ({
      network: {
        allow: [server.address],
        onDecision: () => {
          asked.push(name)
          return answer
        },
      },
    })
    const first = networkRun(deciding('first', 'allow'))
    const { rootDir } = first
    const second = networkRun({ ...deciding('second', 'deny'), rootDir, runId: 'run-2' })
    const results = await Promise.allSettled([
      first.curl(server.address),
      second.curl(server.address),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(asked.toSorted()).toEqual(['first', 'second'])
    expect(server.requests).toHaveLength(1)
  })
})

describe.runIf(hasOwnNetwork)('a host that needs approval', () => {
  const asking = (address: string): ToolRunOptions => ({
    network: { allow: [address], onDecision: () => 'ask' },
  })

  test('is reached by the same call after the decision, in another process too', async () => {
    const server = await countingServer()
    const log = createMemoryLog()
    const first = networkRun({ ...asking(server.address), log })
    const { rootDir } = first
    await expect(first.curl(server.address)).rejects.toThrow(
      `The command ran without ${server.address}`,
    )
    await expect(first.run.settle()).rejects.toThrow(paused)
    expect(server.requests).toEqual([])
    const [approval, ...others] = await pendingApprovals({ log })
    expect(others).toEqual([])
    expect(JSON.parse(approval?.inputJson ?? '')).toMatchObject({
      host: '127.0.0.1',
      port: server.port,
      // One of the arguments is empty, and blanks are shown as one.
      command: `curl ${curlOf(server.address)
        .filter((argument) => argument !== '')
        .join(' ')}`,
    })
    await resolveToolApproval({ log, id: approval?.id ?? '', approved: true, decidedBy: 'mia' })
    const second = networkRun({ ...asking(server.address), log, rootDir, attempt: 2 })
    expect(await second.curl(server.address)).toBe('hello')
    await expect(second.run.settle()).resolves.toBeUndefined()
    expect(server.requests).toHaveLength(1)
  })

  test('pauses the run although the command hides that it failed', async () => {
    const { bash, run } = networkRun({ network: { allow: [], onDecision: 'ask' } })
    const hidden = bash('sh', ['-c', 'curl -sS -m 60 http://good.test/ | cat; echo done'])
    await expect(hidden).rejects.toThrow(/ran without good\.test:80 \(apr_.*done/s)
    await expect(run.settle()).rejects.toThrow(paused)
  })

  test('is refused with who and why after a rejection', async () => {
    const server = await countingServer()
    const { curl, run } = networkRun({
      ...asking(server.address),
      onApproval: () => ({ approved: false, decidedBy: 'mia', comment: 'Not this one' }),
    })
    await expect(curl(server.address)).rejects.toThrow(
      `Blocked by the sandbox: ${server.address} is refused. mia rejected it: Not this one. Work without it.`,
    )
    await expect(run.settle()).resolves.toBeUndefined()
    expect(server.requests).toEqual([])
  })

  test('holds the connection while onApproval decides', async () => {
    const server = await countingServer()
    const { curl } = networkRun({
      ...asking(server.address),
      onApproval: () => ({ approved: true, approvedArgs: { remember: 'run' } }),
    })
    expect(await curl(server.address)).toBe('hello')
    expect(await curl(server.address)).toBe('hello')
    expect(server.requests).toHaveLength(2)
  })

  test('is asked about by the word of a bundle as well', async () => {
    const { curl, log } = networkRun({}, { network: { allow: [], onDecision: 'ask' } })
    await expect(curl('good.test')).rejects.toThrow(paused)
    expect(await pendingApprovals({ log })).toHaveLength(1)
    expect(() =>
      createBuiltinTools({ network: { allow: [], onDecision: 'alow' } as never }),
    ).toThrow('network.onDecision')
  })
})

test.skipIf(hasOwnNetwork)(
  'hosts are refused where commands have no network of their own',
  async () => {
    const { bash } = networkRun({ network: { allow: ['good.test'] } })
    await expect(bash('true', [])).rejects.toMatchObject({ code: 'TOOL_ISOLATION_UNAVAILABLE' })
  },
)

test('hosts are refused without isolation, and nothing is started', async () => {
  const { bash } = networkRun({ network: { allow: ['good.test'] }, isolation: 'none' })
  await expect(bash('true', [])).rejects.toMatchObject({
    code: 'TOOL_ISOLATION_UNAVAILABLE',
    message: expect.stringContaining('namespaces'),
  })
})

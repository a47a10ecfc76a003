import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type {
  NetworkDecisionEvent,
  OnNetworkDecision,
  RunResult,
  SandboxOptions,
} from '@smithers/sandbox'
import {
  describeNetworks,
  describeWithoutNetworks,
  newRoot,
  newSandbox,
} from '../fixtures/sandboxes.ts'

vi.mock(import('../../src/egress/judge.ts'), async (load) => {
  const { withLocalJudge } = await import('../fixtures/local-judge.ts')
  return withLocalJudge(await load())
})

describeWithoutNetworks('hosts that are allowed', (isolation) => {
  test('are refused as an option, with what to do', async () => {
    await expect(
      newSandbox({ isolation, network: { allow: ['good.test'] } }),
    ).rejects.toMatchObject({
      code: 'TOOL_ISOLATION_UNAVAILABLE',
      message: expect.stringContaining('needs the backend "namespaces" or "bubblewrap"'),
    })
  })
})

describeNetworks('hosts that are allowed', (isolation) => {
  let server: Server
  let port: number
  let seen: string[] = []
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.headers.host} ${request.url}`)
      response.end('hello')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => server.close())

  describe('and a command', () => {
    test('reaches them, and nothing else', async () => {
      seen = []
      const sandbox = await newSandbox({ isolation, network: { allow: [`good.test:${port}`] } })
      expect(sandbox.report.network).toBe('allow-list')
      const good = await sandbox.run('curl', ['-sS', '-m', '60', `http://good.test:${port}/a`])
      expect(good).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'hello', violations: [] })
      expect(good.network).toMatchObject({
        decisions: [{ host: 'good.test', port, allowed: true, protocol: 'http' }],
        omitted: 0,
      })
      expect(good.network?.decisions[0]?.bytesReceived).toBeGreaterThan(5)
      const evil = await sandbox.run('curl', [
        '-sS',
        '-f',
        '-m',
        '60',
        `http://evil.test:${port}/b`,
      ])
      expect(evil.exitCode).not.toBe(0)
      expect(evil.violations).toMatchObject([
        { rule: 'network.allow', subject: `evil.test:${port}` },
      ])
      expect(evil.hint).toContain(`can add "evil.test:${port}" to network.allow`)
      const around = await sandbox.run('sh', [
        '-c',
        `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/c; env -i /usr/bin/curl -sS -m 5 http://good.test:${port}/d; true`,
      ])
      expect(around.network?.decisions).toEqual([])
      expect(seen).toEqual([`good.test:${port} /a`])
    })

    test('exits as it would without them', async () => {
      const sandbox = await newSandbox({ isolation, network: { allow: ['good.test'] } })
      expect(await sandbox.run('sh', ['-c', 'exit 7'])).toMatchObject({
        status: 'exited',
        exitCode: 7,
      })
      expect((await sandbox.run('sh', ['-c', 'kill -9 $$'])).exitCode ?? 137).toBe(137)
      expect(await sandbox.run('cat', [], { stdin: 'abc' })).toMatchObject({ stdout: 'abc' })
      const slow = await sandbox.run('sleep', ['60'], { timeoutMs: 300 })
      expect(slow.status).toBe('timeout')
      const none = await sandbox.run('no-such-program')
      expect(none.status).toBe('spawn-error')
    })

    test('is decided about by its own callback, and each decision is an event', async () => {
      seen = []
      const events: string[] = []
      const note = (event: unknown): void => {
        const { command, decision } = event as NetworkDecisionEvent
        events.push(`${command} ${decision.host} ${decision.allowed}`)
      }
      subscribe('smithers:network-decision', note)
      const asked: string[] = []
      const sandbox = await newSandbox({
        isolation,
        network: { allow: [], onDecision: () => 'deny' },
      })
      const reach = (onDecision?: OnNetworkDecision): Promise<RunResult> =>
        sandbox.run('curl', ['-sS', '-m', '60', `http://own.test:${port}/own`], { onDecision })
      const [own, other] = await Promise.all([
        reach(({ host }) => {
          asked.push(host)
          return 'allow'
        }),
        reach(),
      ])
      unsubscribe('smithers:network-decision', note)
      expect(own.stdout).toBe('hello')
      expect(other.network?.decisions).toMatchObject([{ host: 'own.test', allowed: false }])
      expect(asked).toEqual(['own.test'])
      expect(seen).toEqual([`own.test:${port} /own`])
      expect(events.toSorted()).toEqual(['curl own.test false', 'curl own.test true'])
    })

    test('that cannot be started reads as it does without hosts', async () => {
      const rootDir = newRoot()
      writeFileSync(join(rootDir, 'script'), '#!/no/such/interpreter\n', { mode: 0o755 })
      const told = async (network: SandboxOptions['network']): Promise<unknown> => {
        const sandbox = await newSandbox({ rootDir, isolation, network })
        const { status, exitCode, error } = await sandbox.run('./script')
        return { status, exitCode, code: error?.code, message: error?.message }
      }
      const without = await told('none')
      expect(without).toMatchObject({ status: 'spawn-error', code: 'TOOL_SPAWN_FAILED' })
      expect(await told({ allow: ['good.test'] })).toEqual(without)
    })

    test('is not taken for one that was not started by its exit code and what it prints', async () => {
      const sandbox = await newSandbox({ isolation, network: { allow: ['good.test'] } })
      for (const exitCode of [1, 126, 127]) {
        const said = `for n in 3 4 5 6 7 8 9; do eval "printf '!' >&$n"; done 2> /dev/null
          echo "confine: the program cannot be started: sh" >&2
          echo "bwrap: execvp sh: No such file or directory" >&2; exit ${exitCode}`
        expect(await sandbox.run('sh', ['-c', said])).toMatchObject({ status: 'exited', exitCode })
      }
    })

    test('has a port of its own for each command that runs beside it', async () => {
      const sandbox = await newSandbox({ isolation, network: { allow: [`good.test:${port}`] } })
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          sandbox.run('curl', ['-sS', '-m', '60', `http://good.test:${port}/${index}`]),
        ),
      )
      expect(all.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 8 }, () => 'hello'))
      expect(all.map(({ network }) => network?.decisions.length)).toEqual(
        Array.from({ length: 8 }, () => 1),
      )
    })
  })
})

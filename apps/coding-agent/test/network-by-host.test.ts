import { mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import { describe, expect, onTestFinished, test } from 'vitest'
import { documents, inTurn, run, surroundings } from './fixtures/model-run.ts'
import { type Outcome, runSmithers } from './fixtures/smithers-process.ts'
import { keys, noTerminal } from '../../../packages/cli/test/fixtures/terminal-session.ts'
import { smithersAtTerminal } from './fixtures/smithers-terminal.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const sandbox = await createSandbox({ rootDir: tmpdir(), warn() {} })
const hasOwnNetwork = ['namespaces', 'bubblewrap'].includes(sandbox.report.backend)
await sandbox.close()

/** A server on the loopback device, and how often it was asked. */
async function countingServer() {
  let requests = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      requests += 1
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { address, requests: () => requests }
}

const curl = (address: string): string[] => [
  '-sSf',
  '-m',
  '100',
  '--noproxy',
  '',
  `http://${address}/`,
]
const bash = (address: string) => ({
  call: { name: 'bash', input: { cmd: 'curl', args: curl(address) } },
})

describe.runIf(hasOwnNetwork)('smithers run --allow-host', () => {
  test('lets commands reach that host alone, and shows what they asked for', async () => {
    const [good, evil] = [await countingServer(), await countingServer()]
    const site = await surroundings(
      inTurn([bash(good.address), bash(evil.address), { text: 'Done.' }]),
    )
    const flags = ['--allow-host', good.address, '--allow-host', 'other.test', '--json']
    const { exitCode, stdout } = await run(site.server, site, ...flags)
    expect(exitCode).toBe(0)
    expect([good.requests(), evil.requests()]).toEqual([1, 0])
    const ended = documents(stdout).filter(({ type }) => type === 'call-end')
    expect(ended.map(({ code, network }) => [code, network])).toMatchObject([
      [null, { connections: [{ host: '127.0.0.1', allowed: true, rule: good.address }] }],
      ['TOOL_COMMAND_FAILED', { connections: [{ allowed: false, reason: 'not-allowed' }] }],
    ])
    const show = (seq: string): Promise<Outcome> => runSmithers(['show', seq, '--log', site.log])
    expect((await show('1')).stdout).toMatch(
      new RegExp(
        `network\nallowed ${good.address} {2}\\d+ bytes out, \\d+ in, by "${good.address}"`,
      ),
    )
    expect((await show('2')).stdout).toContain(`network\nrefused ${evil.address}  not-allowed`)
  })

  test('pauses with --ask-hosts, and continues after the approval for the whole run', async () => {
    const site = await surroundings(
      inTurn([bash('first.test'), bash('first.test'), { text: 'Done.' }]),
    )
    const paused = await run(site.server, site, '--ask-hosts')
    expect(paused.exitCode).toBe(3)
    expect(paused.stdout).toContain('Let bash connect to first.test:80? Command: curl')
    const listed = await runSmithers(['approvals', '--log', site.log])
    expect(listed.stdout).toContain('"host":"first.test","port":80,"command":"curl')
    const id = /apr_[\w-]+/.exec(listed.stdout)?.[0] ?? ''
    const approved = await runSmithers([
      'approve',
      id,
      '--for-run',
      '--by',
      'mia',
      '--log',
      site.log,
    ])
    expect([approved.exitCode, approved.stdout]).toEqual([
      0,
      expect.stringContaining('bash (network)  approved'),
    ])
    const resumed = await run(site.server, site, '--ask-hosts', '--json')
    expect(resumed.exitCode).toBe(0)
    // It was let through, and the name leads nowhere.
    const [ended] = documents(resumed.stdout).filter(({ type }) => type === 'call-end')
    expect(ended?.['network']).toMatchObject({
      connections: [{ host: 'first.test', allowed: true, reason: 'unresolved' }],
    })
  })
})

describe('hosts on the command line', () => {
  test('are refused with what is wrong, before anything begins', async () => {
    const site = await surroundings(inTurn([{ text: 'Done.' }]))
    const both = await run(site.server, site, '--allow-network', '--allow-host', 'good.test')
    expect([both.exitCode, both.stderr]).toEqual([
      2,
      expect.stringContaining('--allow-network opens every host.'),
    ])
    const [expected, message] = hasOwnNetwork
      ? [2, '--allow-host is "http://good.test/". Pass a host without a scheme or path']
      : [1, 'needs the backend "namespaces" or "bubblewrap"']
    const url = await run(site.server, site, '--allow-host', 'http://good.test/')
    expect([url.exitCode, url.stderr]).toEqual([expected, expect.stringContaining(message)])
    expect(site.server.requests).toEqual([])
  })
})

const workflow = (address: string): string => `
import { bash } from '@smithers/builtin-tools'
import { createSmithers } from '@smithers/orchestrator'
const { Workflow, Task, smithers } = createSmithers({})
const args = ${JSON.stringify(curl(address))}
export default smithers(() => (
  <Workflow name="fetch">
    <Task id="fetch">
      {() => bash.execute({ cmd: 'curl', args }, { toolCallId: 'call', messages: [] })}
    </Task>
  </Workflow>
))
`

describe.runIf(hasOwnNetwork)('smithers up --allow-host', () => {
  test('keeps the hosts for a resume, which takes more only with --accept-wider-network', async () => {
    const server = await countingServer()
    const folder = temporaryFolder()
    const project = join(folder, 'project')
    mkdirSync(project)
    const file = join(project, 'workflow.tsx')
    writeFileSync(file, workflow(server.address))
    const log = join(folder, 'runs.db')
    const smithers = (...args: string[]): Promise<Outcome> => runSmithers([...args, '--log', log])
    const first = await smithers('up', file, '--run', 'r', '--allow-host', 'other.test')
    expect([first.exitCode, first.stderr]).toEqual([1, expect.stringContaining('network.allow')])
    const wider = await smithers('resume', 'r', '--allow-host', server.address)
    expect([wider.exitCode, wider.stderr]).toEqual([
      2,
      expect.stringMatching(/would reach more than when it began: allow 127\.0\.0\.1:\d+/),
    ])
    expect((await smithers('resume', 'r')).exitCode).toBe(1)
    expect(server.requests()).toBe(0)
    const meant = await smithers(
      'resume',
      'r',
      '--allow-host',
      server.address,
      '--accept-wider-network',
    )
    expect([meant.exitCode, server.requests()]).toEqual([0, 1])
  })
})

const askingTwice = `
import { bash } from '@smithers/builtin-tools'
import { createSmithers } from '@smithers/orchestrator'
const { Workflow, Task, smithers } = createSmithers({})
const fetch = (agent) =>
  bash
    .execute(
      { cmd: 'curl', args: ['-A', agent, ...${JSON.stringify(curl('first.test'))}] },
      { toolCallId: agent, messages: [] },
    )
    .catch(() => {})
export default smithers(() => (
  <Workflow name="ask">
    <Task id="fetch">
      {async () => {
        await fetch('one')
        await fetch('two')
      }}
    </Task>
  </Workflow>
))
`

describe.runIf(hasOwnNetwork && (noTerminal === undefined || process.env['CI'] !== undefined))(
  'a question about a host at a terminal',
  () => {
    test('is answered once for the whole run', async () => {
      const folder = temporaryFolder()
      const project = join(folder, 'project')
      mkdirSync(project)
      writeFileSync(join(folder, 'ask.tsx'), askingTwice)
      const log = join(folder, 'runs.db')
      const up = ['up', 'ask.tsx', '--root', project, '--run', 'r', '--ask-hosts', '--log', log]
      const terminal = smithersAtTerminal(up, folder)
      await terminal.seen(/Let bash connect to first\.test:80\? Command: curl -A one/)
      await terminal.seen(/Approve this call\?/)
      terminal.press(keys.down)
      await terminal.seen(/● Approve this host for the whole run/)
      terminal.press(keys.enter)
      expect(await terminal.exitCode).toBe(0)
      expect(terminal.printed()).not.toContain('Command: curl -A two')
      // Both were let through, and the name leads nowhere.
      for (const seq of ['1', '2']) {
        const shown = await runSmithers(['show', seq, '--log', log])
        expect(shown.stdout).toContain('allowed first.test:80')
      }
    })
  },
)

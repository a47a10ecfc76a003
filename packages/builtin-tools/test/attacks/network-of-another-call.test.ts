import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { countingServer, curlOf, hasOwnNetwork, networkRun } from '../fixtures/network-run.ts'

describe.runIf(hasOwnNetwork)('a call without a network', () => {
  test('reaches nothing beside one that has hosts, in the same root', async () => {
    const server = await countingServer()
    const open = networkRun({ network: { allow: [server.address] } })
    const { rootDir } = open
    const closed = networkRun({ rootDir, runId: 'run-2' }, { commands: () => null })
    const listed = networkRun({ rootDir, runId: 'run-3', network: { allow: ['good.test'] } })
    const results = await Promise.allSettled([
      open.curl(server.address),
      closed.curl(server.address),
      listed.curl(server.address),
    ])
    // The first is the control.
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(server.requests).toHaveLength(1)
  })

  test('gains nothing by the user name and token of one that has hosts', async () => {
    const server = await countingServer()
    const open = networkRun({ network: { allow: [server.address] } })
    const { rootDir } = open
    // It gives its proxy away, and lives until the others have tried it.
    const giving = open.bash('sh', [
      '-c',
      `echo "$http_proxy" > given; while [ ! -e tried ]; do sleep 0.05; done; curl ${curlOf(server.address).join(' ').replace('--noproxy ', "--noproxy ''")}`,
    ])
    const taking = [
      '-c',
      'while [ ! -s given ]; do sleep 0.05; done; http_proxy="$(cat given)" curl -sS -m 60 --noproxy "" "$0"',
      `http://${server.address}/stolen`,
    ]
    const closed = networkRun({ rootDir, runId: 'run-2' }, { commands: () => null })
    const listed = networkRun({ rootDir, runId: 'run-3', network: { allow: ['good.test'] } })
    await expect(closed.bash('sh', taking)).rejects.toThrow("Couldn't connect")
    const stolen = await listed.bash('sh', taking).catch(String)
    expect(stolen).toContain('did not name its command')
    expect(server.requests).toEqual([])
    await closed.bash('touch', ['tried'])
    expect(await giving).toContain('hello')
    expect(await readFile(join(rootDir, 'given'), 'utf8')).toMatch(
      /^http:\/\/command-\d+:[0-9a-f]{32}@/,
    )
    expect(server.requests).toHaveLength(1)
  })
})

describe.runIf(hasOwnNetwork)('an agent', () => {
  test('cannot widen its own list', async () => {
    const [good, evil] = [await countingServer(), await countingServer()]
    const allow = [good.address]
    const { run, bash, curl } = networkRun({ network: { allow } })
    // By the list that the program passed, by the context, by arguments that the tool does not have, and by variables.
    allow.push(evil.address)
    const inContext = (run.context.network?.allow ?? []) as string[]
    expect(() => inContext.push(evil.address)).toThrow(/not extensible/)
    const tries: (readonly [string, string[]])[] = [
      ['curl', curlOf(evil.address)],
      ['env', ['-u', 'http_proxy', 'curl', ...curlOf(evil.address)]],
      ['env', ['NO_PROXY=*', 'no_proxy=*', 'curl', '-sS', '-m', '9', `http://${evil.address}/`]],
      ['env', ['SMITHERS_ALLOW_HOST=*', 'curl', ...curlOf(evil.address)]],
      [
        'curl',
        ['-sS', '-m', '9', '--resolve', `good.test:80:127.0.0.1`, `http://${evil.address}/`],
      ],
    ]
    for (const [cmd, args] of tries) await bash(cmd, args).catch(() => {})
    expect(evil.requests).toEqual([])
    // The control: they fail for the list alone.
    const control = networkRun({ network: { allow: [evil.address] } })
    for (const [cmd, args] of tries) await control.bash(cmd, args).catch(() => {})
    expect(evil.requests).toHaveLength(3)
    expect(await curl(good.address)).toBe('hello')
  })

  test('cannot name hosts in the arguments of a call', async () => {
    const evil = await countingServer()
    const { run } = networkRun({ network: { allow: ['good.test'] } })
    const { createBuiltinTools } = await import('@smithers/builtin-tools')
    const { bash } = run.tools(createBuiltinTools({ warn() {} }))
    const args = { cmd: 'curl', args: curlOf(evil.address), network: { allow: [evil.address] } }
    const options = { opts: { network: { allow: [evil.address] }, allowNetwork: true } }
    await expect(
      bash.execute({ ...args, ...options } as never, { toolCallId: 'c', messages: [] }),
    ).rejects.toThrow('not in network.allow')
    expect(evil.requests).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'
import { callsIn, documents, inTurn, run, surroundings } from './fixtures/model-run.ts'

describe('smithers run', () => {
  test('hands the limits and the network switch of the command line to the tools', async () => {
    // A run for each limit: on a busy machine the read could take longer than the time limit.
    const limits = [
      [{ name: 'read', input: { path: 'greeting.txt' } }, '--max-output-bytes', '5'],
      [{ name: 'bash', input: { cmd: 'sleep', args: ['60'] } }, '--tool-timeout-ms', '300'],
    ] as const
    const codes: unknown[] = []
    for (const [call, ...flags] of limits) {
      const { folder, root, log, server } = await surroundings(
        inTurn([{ call }, { text: 'Done.' }]),
      )
      const { exitCode, stdout } = await run(server, { folder, root, log }, '--json', ...flags)
      expect(exitCode).toBe(0)
      const ended = documents(stdout).filter(({ type }) => type === 'call-end')
      codes.push(...ended.map(({ code }) => code))
    }
    expect(codes).toEqual(['TOOL_FILE_TOO_LARGE', 'TOOL_TIMEOUT'])
  })

  test('lets a command out only with --allow-network', async () => {
    const script = [
      { call: { name: 'bash', input: { cmd: 'git', args: ['ls-remote', '--heads', 'origin'] } } },
      { text: 'Done.' },
    ]
    const codes: unknown[] = []
    for (const flags of [['--json'], ['--json', '--allow-network']]) {
      const { folder, root, log, server } = await surroundings(inTurn(script))
      const { stdout } = await run(server, { folder, root, log }, ...flags)
      codes.push(documents(stdout).find(({ type }) => type === 'call-end')?.['code'])
    }
    // There is no remote with this name: with the network allowed, git runs and fails.
    expect(codes).toEqual(['TOOL_GIT_REMOTE_DISABLED', 'TOOL_COMMAND_FAILED'])
  })

  test('fails with exit code 1 when the steps run out before there is an answer', async () => {
    const { folder, root, log, server } = await surroundings(() => ({
      call: { name: 'grep', input: { pattern: 'Hello' } },
    }))
    const { exitCode, stderr } = await run(server, { folder, root, log }, '--max-steps', '2')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^smithers: The agent had no answer after 2 steps\. .*\n$/)
    expect(await callsIn(log)).toHaveLength(2)
  })
})

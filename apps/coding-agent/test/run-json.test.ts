import { describe, expect, test } from 'vitest'
import { documents, fixGreeting, inTurn, run, surroundings } from './fixtures/model-run.ts'

describe('smithers run', () => {
  test('prints with --json one document a line', async () => {
    const { folder, root, log, server } = await surroundings(inTurn(fixGreeting))
    const { exitCode, stdout } = await run(server, { folder, root, log }, '--json')
    expect(exitCode).toBe(0)
    const events = documents(stdout)
    expect(events.map(({ type }) => type)).toEqual([
      'run-start',
      'text',
      'call-start',
      'call-end',
      'call-start',
      'call-end',
      'call-start',
      'call-end',
      'text',
      'run-end',
    ])
    expect(events[0]).toMatchObject({ runId: 'run-1', attempt: 1, rootDir: root })
    expect(events[7]).toMatchObject({ seq: 3, toolName: 'bash', code: 'TOOL_NETWORK_DISABLED' })
    expect(events[9]).toMatchObject({ ok: true, calls: 3, steps: 4, error: null })
  })

  test('ends with --json in a document that says why a run failed', async () => {
    const { folder, root, log, server } = await surroundings(() => ({
      call: { name: 'grep', input: { pattern: 'Hello' } },
    }))
    const { exitCode, stdout } = await run(
      server,
      { folder, root, log },
      '--json',
      '--max-steps',
      '1',
    )
    expect(exitCode).toBe(1)
    expect(documents(stdout).at(-1)).toMatchObject({
      type: 'run-end',
      ok: false,
      steps: 1,
      calls: 1,
      error: expect.stringContaining('no answer after 1 steps') as string,
    })
  })
})

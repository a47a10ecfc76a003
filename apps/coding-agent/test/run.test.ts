import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callsIn, fixGreeting, inTurn, run, surroundings } from './fixtures/model-run.ts'
import { runSmithers } from './fixtures/smithers-process.ts'

const providers = [
  {
    model: 'openai-compatible/some/model',
    sent: 'some/model',
    path: '/v1/chat/completions',
    env: { OPENAI_COMPATIBLE_API_KEY: 'the-key' },
    header: 'authorization',
    value: 'Bearer the-key',
  },
  {
    model: 'openai/gpt-x',
    sent: 'gpt-x',
    path: '/v1/responses',
    env: { OPENAI_API_KEY: 'the-key' },
    header: 'authorization',
    value: 'Bearer the-key',
  },
  {
    model: 'anthropic/claude-sonnet-4-5',
    sent: 'claude-sonnet-4-5',
    path: '/v1/messages',
    env: { ANTHROPIC_API_KEY: 'the-key' },
    header: 'x-api-key',
    value: 'the-key',
  },
]

describe('smithers run', () => {
  test.for(providers)(
    'does a task with a model of $model, over HTTP',
    async ({ model, sent, path, env, header, value }) => {
      const { folder, root, log, server } = await surroundings(inTurn(fixGreeting))

      const { exitCode, stdout, stderr } = await run(server, { folder, root, log, model, env })

      expect(stderr).toBe('')
      expect(exitCode).toBe(0)
      expect(readFileSync(join(root, 'greeting.txt'), 'utf8')).toBe('Hello world\n')

      const lines = stdout.split('\n')
      expect(lines.filter((line) => /^ {2}\d \w+ .* ms {2}\w/.test(line))).toEqual([
        expect.stringMatching(/^ {2}1 read {2}greeting\.txt .* {2}ok$/),
        expect.stringMatching(/^ {2}2 write greeting\.txt .* {2}ok$/),
        expect.stringMatching(/^ {2}3 bash {2}curl http:\S+ .* {2}refused TOOL_NETWORK_DISABLED$/),
      ])
      expect(lines.indexOf('I look first.')).toBeLessThan(
        lines.findIndex((line) => line.startsWith('  1 read')),
      )
      expect(lines.indexOf('The greeting is fixed.')).toBeGreaterThan(
        lines.findIndex((line) => line.startsWith('  3 bash')),
      )
      expect(stdout).not.toContain('\u001b')

      expect(server.requests.map((request) => request.path)).toEqual([path, path, path, path])
      const [first, second, , last] = server.requests
      expect(first?.headers[header]).toBe(value)
      expect(first?.body['model']).toBe(sent)
      expect(JSON.stringify(first?.body)).toContain('Fix the greeting')
      expect(JSON.stringify(second?.body)).toContain('Hello wrold')
      expect(JSON.stringify(last?.body)).toContain('network')

      expect(await callsIn(log)).toEqual([
        ['run-1', 1, 'read', 'success'],
        ['run-1', 2, 'write', 'success'],
        ['run-1', 3, 'bash', 'error'],
      ])
    },
  )

  test('records a call whose arguments do not fit, and one of a tool that there is not', async () => {
    const { folder, root, log, server } = await surroundings(
      inTurn([
        { call: { name: 'read', input: { file: 'greeting.txt' } } },
        { call: { name: 'fly', input: {} } },
        { text: 'Done.' },
      ]),
    )
    const { exitCode, stdout } = await run(server, { folder, root, log })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^ {2}1 read {2}\{"file":"greeting\.txt"\} .* {2}refused INVALID_INPUT$/m,
    )
    expect(stdout).toMatch(/^ {2}2 fly .* {2}refused TOOL_NOT_FOUND$/m)
    expect(await callsIn(log)).toEqual([
      ['run-1', 1, 'read', 'error'],
      ['run-1', 2, 'fly', 'error'],
    ])
  })

  test('fails with exit code 1 and leaves no log when the provider refuses the model', async () => {
    const { folder, root, log, server } = await surroundings(() => ({
      status: 404,
      error: 'The model `m` does not exist',
    }))
    const { exitCode, stderr } = await run(server, { folder, root, log })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^smithers: The model's provider at http:\/\/127\.0\.0\.1:\d+ answered 404: The model `m` does not exist\n$/,
    )
    expect(() => readFileSync(log)).toThrow('ENOENT')
  })

  test('passes a warning about the model on once, however many steps there are', async () => {
    const { folder, root, log, server } = await surroundings(inTurn(fixGreeting))
    const { exitCode, stderr } = await runSmithers(
      [
        'run',
        'Fix it',
        '--root',
        root,
        '--log',
        log,
        '--model',
        'anthropic/claude-x',
        '--base-url',
        server.url,
      ],
      { env: { HOME: folder, ANTHROPIC_API_KEY: 'the-key' } },
    )
    expect(exitCode).toBe(0)
    expect(server.requests).toHaveLength(4)
    expect(stderr).toMatch(/^smithers: claude-x: [^\n]*maxOutputTokens[^\n]*\n$/)
  })

  test('shows what the sandbox undid, to the user and to the model', async () => {
    const { folder, root, log, server } = await surroundings(
      inTurn([
        { call: { name: 'bash', input: { cmd: 'sh', args: ['-c', 'echo x > .envrc'] } } },
        { text: 'Done.' },
      ]),
    )
    const { stdout } = await run(server, { folder, root, log })
    expect(stdout).toMatch(/sandbox: The command created "\.envrc", a protected name/)
    expect(JSON.stringify(server.requests[1]?.body)).toContain('[sandbox] The command created')
    expect(existsSync(join(root, '.envrc'))).toBe(false)
  })

  test('says which calls an earlier attempt of the run made, to the model too', async () => {
    const { folder, root, log, server } = await surroundings(
      inTurn([
        { call: { name: 'bash', input: { cmd: 'touch', args: ['made'] } } },
        { text: 'Done.' },
        { text: 'Nothing is left to do.' },
      ]),
    )
    await run(server, { folder, root, log })
    const { stdout } = await run(server, { folder, root, log })
    expect(stdout.split('\n')[0]).toMatch(/^run-1 \(attempt 2\)/)
    expect(JSON.stringify(server.requests[2]?.body)).toContain('[smithers:tool-resume-warning]')
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('resume-warning')
  })
})

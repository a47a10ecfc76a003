import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'
import { keys, noTerminal } from '../../../packages/cli/test/fixtures/terminal-session.ts'
import { smithersAtTerminal } from './fixtures/smithers-terminal.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

/** An empty home without git settings, and a directory of its own for what the demo makes. */
function surroundings(): { HOME: string; TMPDIR: string } {
  const folder = temporaryFolder()
  const surrounding = { HOME: join(folder, 'home'), TMPDIR: join(folder, 'tmp') }
  for (const made of Object.values(surrounding)) mkdirSync(made)
  return surrounding
}

/** Every call: task, attempt, tool, code. */
const expectedCalls = [
  ['explore', 1, 'bash', 'TOOL_COMMAND_FAILED'],
  ['explore', 1, 'grep', null],
  ['repair', 1, 'read', null],
  ['repair', 1, 'edit', 'TOOL_APPROVAL_REQUIRED'],
  ['repair', 2, 'read', null],
  ['repair', 2, 'edit', 'TOOL_PATCH_FAILED'],
  ['repair', 2, 'edit', null],
  ['verify', 1, 'bash', null],
  ['verify', 1, 'bash', 'TOOL_NETWORK_DISABLED'],
  ['verify', 1, 'read', 'TOOL_PATH_ESCAPE'],
  ['share', 1, 'bash', null],
  ['pay', 1, 'charge', 'TOOL_OUTCOME_UNKNOWN'],
  ['pay', 2, 'find_payments', null],
] as const

const checks = 11

describe('smithers demo', () => {
  test('repairs the repository, is killed while it pays, resumes, and shows it', async () => {
    const { exitCode, stdout, stderr } = await runSmithers(['demo'], { env: surroundings() })
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('\u001b')

    const lines = stdout.split('\n')
    const shown = lines.filter((line) => /^ {6}\d \w+ .* (?:ms|s) {2}\w/.test(line))
    expect(shown.map((line) => line.trim().replaceAll(/ {2,}/g, '  '))).toEqual([
      expect.stringMatching(/^1 bash {2}node --test .* failed TOOL_COMMAND_FAILED$/),
      expect.stringMatching(/^2 grep {2}'function splitEvenly\\b' in src .* ok$/),
      expect.stringMatching(/^1 read {2}src\/split\.js .* ok$/),
      expect.stringMatching(/^2 edit {2}src\/split\.js .* refused TOOL_APPROVAL_REQUIRED$/),
      expect.stringMatching(/^1 read {2}src\/split\.js .* ok$/),
      expect.stringMatching(/^2 edit {2}src\/split\.js .* failed TOOL_PATCH_FAILED$/),
      expect.stringMatching(/^3 edit {2}src\/split\.js .* ok$/),
      expect.stringMatching(/^1 bash {2}node --test .* ok$/),
      expect.stringMatching(/^2 bash {2}curl .* refused TOOL_NETWORK_DISABLED$/),
      expect.stringMatching(/^3 read {2}docs\/price-list\.txt .* refused TOOL_PATH_ESCAPE$/),
      expect.stringMatching(/^1 bash {2}node --input-type=module .* ok$/),
      expect.stringMatching(/^1 find_payments .* ok$/),
    ])
    const order = [
      '$ smithers up dinner-bill.tsx',
      'Change src/split.js? Approved by the demo itself',
      'The server has booked the payment but not answered yet: kill -9 ',
      '$ smithers why demo',
      '  Run demo of workflow "dinner-bill" was interrupted:',
      '  ! pay  attempt 2: the agent is warned of what may have happened before',
      '+++ b/src/split.js',
      'run demo, workflow dinner-bill: finished',
      'commands  ',
      '✓ The tests failed before',
    ]
    const places = order.map((text) => lines.findIndex((line) => line.startsWith(text)))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
    expect(lines.filter((line) => line.startsWith('✓'))).toHaveLength(checks)
    expect(lines.filter((line) => line.startsWith('✗'))).toEqual([])
  })

  test('leaves a repository whose tests pass and a log of every call of one run', async () => {
    const { exitCode, stdout } = await runSmithers(['demo', '--json'], { env: surroundings() })
    expect(exitCode).toBe(0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    // The worker that was killed could not say how its payment ended.
    const ended = events.filter(({ type }) => type === 'call-end')
    expect(ended.map(({ toolName, code }) => [toolName, code])).toEqual(
      expectedCalls
        .filter(([, , toolName]) => toolName !== 'charge')
        .map(([, , toolName, code]) => [toolName, code]),
    )

    const left = events.find(({ type }) => type === 'left')
    const rootDir = String(left?.['rootDir'])
    const options = { cwd: rootDir, extendEnv: false, env: {}, reject: false } as const
    const tests = await execa(process.execPath, ['--test'], options)
    expect(tests.exitCode).toBe(0)
    const { stdout: status } = await execa('git', ['status', '--porcelain'], { cwd: rootDir })
    expect(status).toBe(' M src/split.js')

    const logPath = String(left?.['logPath'])
    const log = createSqliteLog({ path: logPath })
    const rows = await log.list({})
    await log.close()
    expect(
      rows.map(({ nodeId, attempt, toolName, errorJson }) => [
        nodeId,
        attempt,
        toolName,
        errorJson === null ? null : (JSON.parse(errorJson) as { code: string }).code,
      ]),
    ).toEqual(expectedCalls)
    expect(new Set(rows.map(({ runId }) => runId))).toEqual(new Set(['demo']))
    // The log says how large a patch was, never what it said.
    expect(readFileSync(logPath, 'latin1')).not.toContain('leftOver')

    const runs = await runSmithers(['runs', '--log', logPath])
    expect(runs.stdout).toMatch(/^demo +dinner-bill +finished +6 of 6 /m)
    const calls = await runSmithers(['calls', '--log', logPath, '--task', 'pay'])
    expect(calls.stdout).toMatch(/^1 +1 +charge .* unknown TOOL_OUTCOME_UNKNOWN +unknown /m)
    expect(calls.stdout).toMatch(/^2 +1 +find_payments /m)
    const shown = await runSmithers([
      'show',
      '1',
      '--task',
      'pay',
      '--attempt',
      '1',
      '--log',
      logPath,
    ])
    expect(shown.stdout).toContain('charge (side effect)')
  })

  test('asks at the terminal for the approval', async (context) => {
    if (noTerminal !== undefined && process.env['CI'] === undefined) context.skip(noTerminal)
    const { HOME, TMPDIR } = surroundings()
    const terminal = smithersAtTerminal(['demo'], HOME, { TMPDIR })
    await terminal.seen(/Change src\/split\.js\?[^]*\+ {2}const leftOver[^]*Approve this call\?/)
    terminal.press(keys.enter)
    expect(await terminal.exitCode).toBe(0)
    expect(terminal.printed()).not.toContain('Approved by the demo itself')
    expect(terminal.printed().match(/✓\S* \w+ /g)?.length).toBeGreaterThanOrEqual(checks)
  })
})

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failedWith, writeSampleLog } from './fixtures/sample-log.ts'
import type { SampleCall } from './fixtures/sample-log.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const key = '6f1d3b0a-0000-5000-8000-000000000001'
const charge = { toolName: 'charge', sideEffect: true, idempotent: false, idempotencyKey: key }
const calls: readonly SampleCall[] = [
  {
    seq: 1,
    runId: 'run-0',
    toolName: 'read',
    input: { path: 'old.txt' },
    finish: { outputJson: '"old"' },
  },
  { ...charge, seq: 1, input: { cents: 100, memo: 'dinner' } },
  {
    ...charge,
    seq: 1,
    attempt: 2,
    input: { cents: 100, memo: 'the dinner' },
    finish: failedWith('TOOL_TIMEOUT', 'It took\ntoo long.'),
  },
  {
    ...charge,
    seq: 1,
    attempt: 3,
    input: { cents: 100, memo: 'the dinner' },
    finish: { outputJson: '{"id":7}', effect: 'applied' },
  },
]

async function show(...args: string[]): ReturnType<typeof runSmithers> {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, calls)
  return runSmithers(['show', ...args, '--log', path])
}

describe('smithers show', () => {
  test('shows the call of the newest run and attempt, whole', async () => {
    const { exitCode, stdout } = await show('1')
    expect(exitCode).toBe(0)
    const lines = stdout.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'tool      charge (side effect)',
        'run       run-1, task agent, iteration 0, attempt 3',
        "call      1, the model's call-4",
        'started   2026-01-02T03:04:08.000Z, took 30 ms',
        `key       ${key}`,
        'effect    applied',
        'outcome   ok',
        '  "cents": 100,',
        '  "memo": "the dinner"',
        '  "id": 7',
      ]),
    )
  })

  test('shows the earlier calls of the same key and how their arguments differ', async () => {
    const { stdout } = await show('1')
    const [, first, second] = stdout.split('earlier call with this key: ')
    expect(first).toMatch(/^attempt 1, call 1, 2026-01-02T03:04:06\.000Z, unknown\n/)
    expect(first).toContain('-   "memo": "dinner"\n+   "memo": "the dinner"')
    expect(second).toMatch(/^attempt 2, call 1, .*, failed TOOL_TIMEOUT\nthe same arguments\n/)
  })

  test('shows a call of an earlier attempt, and of another run', async () => {
    const second = await show('1', '--attempt', '2')
    expect(second.stdout).toContain('\nerror\nIt took\ntoo long.\n')
    const other = await show('1', '--run', 'run-0')
    expect(other.stdout).toContain('\noutput\nold\n')
    expect(other.stdout).not.toContain('earlier call')
  })

  test('shows the patch that was recorded beside the arguments, and why it failed', async () => {
    const patch = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-zwei\n+three\u001b[31m\n'
    const path = join(temporaryFolder(), 'calls.db')
    const input = { path: 'a.txt', $patch: patch }
    const finish = failedWith('TOOL_PATCH_FAILED', 'Hunk 1 does not match a.txt.')
    await writeSampleLog(path, [{ seq: 1, toolName: 'edit', input, finish }])
    const { stdout } = await runSmithers(['show', '1', '--log', path])
    expect(stdout).toContain('\narguments\n{\n  "path": "a.txt"\n}\n')
    expect(stdout).toContain('\npatch\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-zwei\n+three')
    expect(stdout).toContain('\noutcome   failed TOOL_PATCH_FAILED\n')
    expect(stdout).toContain('\nerror\nHunk 1 does not match a.txt.\n')
    expect(stdout).not.toContain('\u001b')
  })

  test('says that other attempts have a call of this number', async () => {
    const { stderr } = await show('1')
    expect(stderr).toBe(
      'The run has other calls with this number: agent attempt 2, agent attempt 1.\n',
    )
  })

  test('prints with --json one document', async () => {
    const { stdout } = await show('1', '--json')
    expect(stdout.trimEnd()).not.toContain('\n')
    expect(JSON.parse(stdout)).toMatchObject({
      seq: 1,
      attempt: 3,
      outcome: 'ok',
      output: { id: 7 },
      earlierOfKey: [
        { attempt: 1, outcome: 'unknown' },
        { attempt: 2, outcome: 'failed', code: 'TOOL_TIMEOUT' },
      ],
    })
  })

  test('says in one line that the call does not exist', async () => {
    const { exitCode, stderr } = await show('9')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      /^smithers: No call 9 in run run-1\. "smithers calls --log \/\S+\/calls\.db" lists them\.\n$/,
    )
  })
})

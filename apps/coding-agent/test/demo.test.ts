import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { describe, expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

/** An empty home, nobody's git settings, and a place of its own for what the demo makes. */
function surroundings(): { HOME: string; TMPDIR: string } {
  const folder = temporaryFolder()
  const surrounding = { HOME: join(folder, 'home'), TMPDIR: join(folder, 'tmp') }
  for (const made of Object.values(surrounding)) mkdirSync(made)
  return surrounding
}

const expectedCalls = [
  ['bash', 'TOOL_COMMAND_FAILED'],
  ['grep', null],
  ['read', null],
  ['edit', 'TOOL_PATCH_FAILED'],
  ['edit', null],
  ['bash', null],
  ['bash', 'TOOL_NETWORK_DISABLED'],
  ['read', 'TOOL_PATH_ESCAPE'],
]

describe('smithers demo', () => {
  test('repairs the repository and shows it, call by call', async () => {
    const { exitCode, stdout, stderr } = await runSmithers(['demo'], { env: surroundings() })
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('\u001b')

    const lines = stdout.split('\n')
    const shown = lines.filter((line) => /^ {2}\d \w+ .* (?:ms|s) {2}\w/.test(line))
    expect(shown).toEqual([
      expect.stringMatching(/^ {2}1 bash {2}node --test .* failed TOOL_COMMAND_FAILED$/),
      expect.stringMatching(/^ {2}2 grep {2}'function splitEvenly\\b' in src .* ok$/),
      expect.stringMatching(/^ {2}3 read {2}src\/split\.js .* ok$/),
      expect.stringMatching(/^ {2}4 edit {2}src\/split\.js .* failed TOOL_PATCH_FAILED$/),
      expect.stringMatching(/^ {2}5 edit {2}src\/split\.js .* ok$/),
      expect.stringMatching(/^ {2}6 bash {2}node --test .* ok$/),
      expect.stringMatching(/^ {2}7 bash {2}curl .* refused TOOL_NETWORK_DISABLED$/),
      expect.stringMatching(/^ {2}8 read {2}docs\/price-list\.txt .* refused TOOL_PATH_ESCAPE$/),
    ])
    const order = ['+++ b/src/split.js', 'seq  tool', 'commands  ', '✓ The tests failed before']
    const places = order.map((text) => lines.findIndex((line) => line.startsWith(text)))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
    expect(lines.filter((line) => line.startsWith('✓'))).toHaveLength(10)
    expect(lines.filter((line) => line.startsWith('✗'))).toEqual([])
  })

  test('leaves a repository whose tests pass and a log of every call', async () => {
    const { exitCode, stdout } = await runSmithers(['demo', '--json'], { env: surroundings() })
    expect(exitCode).toBe(0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    const ended = events.filter(({ type }) => type === 'call-end')
    expect(ended.map(({ toolName, code }) => [toolName, code])).toEqual(expectedCalls)

    const left = events.find(({ type }) => type === 'left')
    const rootDir = String(left?.['rootDir'])
    expect(() =>
      execFileSync(process.execPath, ['--test'], { cwd: rootDir, env: {} }),
    ).not.toThrow()
    const status = execFileSync('git', ['status', '--porcelain'], {
      cwd: rootDir,
      encoding: 'utf8',
    })
    expect(status).toBe(' M src/split.js\n')

    const log = createSqliteLog({ path: String(left?.['logPath']) })
    const rows = await log.list({})
    await log.close()
    expect(rows.map(({ toolName, status: state }) => [toolName, state])).toEqual(
      expectedCalls.map(([toolName, code]) => [toolName, code === null ? 'success' : 'error']),
    )
    // The log says how large a patch was, never what it said.
    expect(readFileSync(String(left?.['logPath']), 'latin1')).not.toContain('leftOver')
  })
})

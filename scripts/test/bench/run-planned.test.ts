import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runPlanned, withoutFolders } from '../../bench/run-planned.ts'
import type { StoredRun } from '../../bench/stored-run.ts'
import { ratios } from './sample-run.ts'

const root = join(import.meta.dirname, '../../..')
const publishing = `import { attempt, publish, publishNotRun } from ${JSON.stringify(join(root, 'scripts/bench/publish.ts'))}\n`
const table = `publish(${JSON.stringify(ratios)})\n`

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-test-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(folder, 'bench'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('A benchmark hands over its tables, and a missed goal is no failure', async () => {
  const run = await runBench(`${table}process.exitCode = 1\nconsole.error('(node) Warning: slow')`)
  expect(run.tables).toEqual([ratios])
  expect(run.notRun).toEqual([])
  expect(run.command).toBe('pnpm bench sample --quick')
})

test('A part that fails is named with its reason, and the others are measured', async () => {
  const run = await runBench(
    `await attempt('the first part', () => { throw new Error('no ${join(root, 'bin/bwrap')} here') })\n${table}`,
  )
  expect(run.tables).toHaveLength(1)
  expect(run.notRun).toEqual([{ what: 'the first part', why: 'no bwrap here' }])
})

test('A benchmark that ends in the middle keeps the tables that it got to', async () => {
  const run = await runBench(`${table}throw new TypeError('the server is gone')`)
  expect(run.tables).toHaveLength(1)
  expect(run.notRun).toEqual([
    { what: '`pnpm bench sample --quick`', why: 'TypeError: the server is gone' },
  ])
})

test('A benchmark that hangs is ended after its limit', async () => {
  const run = await runBench(`${table}setInterval(() => {}, 1000)`, 5)
  expect(run.notRun[0]?.why).toBe('It had not ended after 5 seconds.')
})

test('A benchmark that publishes nothing is named', async () => {
  const run = await runBench('')
  expect(run.notRun[0]?.why).toBe('It has published nothing.')
})

test('A reason names files without the folders of the machine', () => {
  expect(withoutFolders('open /home/me/a/b.ts, see https://example.com/a/b')).toBe(
    'open b.ts, see https://example.com/a/b',
  )
})

function runBench(source: string, limitSeconds = 120): Promise<StoredRun> {
  writeFileSync(join(folder, 'bench/sample.bench.ts'), publishing + source)
  return runPlanned(
    { name: 'sample', folder, args: [], packages: [], programs: [], limitSeconds },
    'quick',
  )
}

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTask } from '../fixtures/grep-task.ts'

const program = vi.hoisted(() => ({ path: '' }))

vi.mock('../../src/search/find-ripgrep.ts', () => ({
  ripgrepPath: () => Promise.resolve(program.path),
}))

const lineCount = 400_000
const line = 'token\n'

/** Prints what ripgrep would of one file that has the word in each line, and notes how far it came. */
function installPrinter(): { readonly progress: string } {
  const directory = mkdtempSync(join(tmpdir(), 'printer-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  program.path = join(directory, 'rg')
  const progress = join(directory, 'progress')
  writeFileSync(
    program.path,
    `#!${process.execPath}
const { renameSync, writeFileSync, writeSync } = require('node:fs')
const path = { text: './big' }
const message = (type, data) => JSON.stringify({ type, data: { path, ...data } }) + '\\n'
const print = (text) => {
  for (let bytes = Buffer.from(text); bytes.length > 0;) bytes = bytes.subarray(writeSync(1, bytes))
}
// It may be killed at any time: a file that is being written would hold less than a number.
const note = (number) => {
  writeFileSync(${JSON.stringify(`${progress}.new`)}, process.pid + ' ' + number)
  renameSync(${JSON.stringify(`${progress}.new`)}, ${JSON.stringify(progress)})
}
note(0)
print(message('begin', {}))
for (let number = 1; number <= ${lineCount}; number += 1) {
  print(message('match', { lines: { text: ${JSON.stringify(line)} }, line_number: number, submatches: [] }))
  if (number % 1000 === 0) note(number)
}
print(message('end', { binary_offset: null }))
`,
  )
  chmodSync(program.path, 0o755)
  return { progress }
}

function progressOf(path: string): { readonly pid: number; readonly lines: number } {
  const [pid = Number.NaN, lines = Number.NaN] = readFileSync(path, 'utf8').split(' ').map(Number)
  return { pid, lines }
}

test('a search is ended by the limit while it has far more to print', async () => {
  const { progress } = installPrinter()
  const { search, root } = createTask(
    { big: line.repeat(lineCount) },
    { isolation: 'none', maxOutputBytes: 10_000 },
  )
  const output = await search({ pattern: 'token' })
  expect(output).toContain('cut at 10000 bytes')
  const { pid } = progressOf(progress)
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
  // What the limit holds, what the pipe holds, and what came while the signal was on its way.
  expect(progressOf(progress).lines).toBeLessThan(lineCount / 4)

  // The control: read to its end, the program prints everything.
  const { stdout } = spawnSync(program.path, { cwd: root, maxBuffer: 1e9, encoding: 'utf8' })
  expect(stdout.match(/"match"/gu)).toHaveLength(lineCount)
  expect(progressOf(progress).lines).toBe(lineCount)
})

import { expect, test } from 'vitest'
import { pageOf } from '../../bench/page.ts'
import { sampleRun } from './sample-run.ts'

const page = pageOf([sampleRun])

test('A section has its picture, its table, and the command behind it', () => {
  expect(page).toContain('](images/benchmarks/sample-ratios.svg)')
  expect(page).toMatch(/\| read +\| 30\.0 µs +\| 41\.0 µs \| 60\.0 µs \(readFile\)/u)
  expect(page).toContain('`pnpm bench sample --short`')
})

test('A missed goal is marked in its table, counted under it and at the top', () => {
  expect(page).toMatch(/\| write .*\| ≤ 1\.2 × \*\*missed\*\* \|/u)
  expect(page).toContain('One goal is missed.')
  expect(page).toMatch(
    /\| \[Reads & writes <fast>\]\(#reads--writes-fast\) \| 1 +\| \*\*1\*\* +\|/u,
  )
})

test('What was not measured is named with the reason', () => {
  expect(page).toMatch(
    /## Not measured\n\n.*\n.*\n\| isolation by bubblewrap \| bwrap is not installed\. \|/u,
  )
  expect(pageOf([{ ...sampleRun, notRun: [] }])).not.toContain('Not measured')
})

test('Machine, load, versions, date and commit are on the page', () => {
  for (const fact of [
    '2 × CPU, 8 GB, Linux 6, Node 24.0.0',
    'load 0.2',
    'diff 9.0.0',
    '2026-01-02 03:04',
    'abcdef0123',
  ])
    expect(page).toContain(fact)
})

test('A column without anything in it is left out, and a bar in a cell is escaped', () => {
  const [, pairs = ''] = page.split('## Pairs')
  const head = pairs.split('\n').find((line) => line.startsWith('| job'))
  expect(head?.split('|').map((cell) => cell.trim())).toEqual([
    '',
    'job',
    'by',
    'median',
    'goal',
    'note',
    '',
  ])
  expect(pairs).toContain(String.raw`one \| two`)
})

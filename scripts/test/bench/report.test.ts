import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { idOf, plan } from '../../bench/plan.ts'
import { drawn, report, reportPlaces } from '../../bench/report.ts'
import { readRuns, writeRun } from '../../bench/stored-run.ts'
import { sampleRun } from './sample-run.ts'

const places = reportPlaces(join(import.meta.dirname, '../../../docs'))
const runs = readRuns(places.results, plan.map(idOf))
const files = drawn(places, runs)

test('The page and its pictures are what the stored results give: `pnpm bench --report --redraw`', () => {
  expect(runs.length).toBeGreaterThan(0)
  for (const [path, text] of files) expect(readFileSync(path, 'utf8'), path).toBe(text)
})

test('Every picture keeps its texts within its edges', () => {
  for (const [path, picture] of files)
    // A letter of 14 pixels is half as wide, and a little more in bold.
    for (const [, x, text = ''] of picture.matchAll(/<text[^>]* x="([\d.]+)"[^>]*>([^<]*)</gu))
      expect(Number(x) + text.length * 7.6, `${path}: ${text}`).toBeLessThan(640)
})

test('Every stored result belongs to a planned benchmark, and every picture to a result', () => {
  const stored = runs.map(({ id }) => `${id}.json`)
  expect(readdirSync(places.results).toSorted()).toEqual(stored.toSorted())
  const pictures = [...files.keys()].filter((path) => path.endsWith('.svg'))
  expect(readdirSync(places.pictures).toSorted()).toEqual(
    pictures.map((path) => basename(path)).toSorted(),
  )
})

test('The page shows no figures of a quick run', () => {
  for (const { command } of runs) expect(command).not.toContain('--quick')
})

test('Results name no folder of the machine that measured', () => {
  expect(JSON.stringify(runs)).not.toMatch(/\/(?:home|root|tmp|Users|work)\//u)
})

test('A page is drawn again without measuring, and pictures of tables that are gone are removed', async () => {
  const docs = mkdtempSync(join(tmpdir(), 'bench-redraw-'))
  try {
    const own = reportPlaces(docs)
    writeRun(own.results, { ...sampleRun, id: 'sandbox-files' })
    mkdirSync(own.pictures, { recursive: true })
    writeFileSync(join(own.pictures, 'gone.svg'), '')
    await report(docs, { names: [], isQuick: false, isRedraw: true })
    expect(readdirSync(own.pictures).toSorted()).toEqual([
      'sample-amounts.svg',
      'sample-ratios.svg',
    ])
    const page = readFileSync(own.page, 'utf8')
    expect(page).toContain('## Pairs')
    expect(page).toMatch(
      /\| `pnpm bench tools` of packages\/orchestrator +\| No result is stored\. +\|/u,
    )
    expect(readRuns(own.results, ['sandbox-files'])).toEqual([
      { ...sampleRun, id: 'sandbox-files' },
    ])
  } finally {
    rmSync(docs, { recursive: true, force: true })
  }
})

test('A name that the report does not know is refused with those that it knows', async () => {
  const refused = report(tmpdir(), { names: ['speed'], isQuick: true, isRedraw: false })
  await expect(refused).rejects.toThrow(/has no benchmark speed\. Choose of tools, isolation/u)
})

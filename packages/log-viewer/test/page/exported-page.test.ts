import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ToolCallRow } from '@smithers/tool-core'
import { expect, onTestFinished, test } from 'vitest'
import { attackRows, ranMark } from '../fixtures/attack-rows.ts'
import { describeInBrowser, type OpenPage, press, type Watched } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

describeInBrowser('a run exported as one HTML file', (open) => {
  test('shows the run without a server and makes no request', async () => {
    const { page, requests, errors } = await openExported(open, sampleRows)
    await page.locator('.call').first().waitFor()
    await press(page, 'u')
    await page.locator('.answers').waitFor()
    expect(await page.locator('.call-title h2').textContent()).toBe('charge')
    expect(await page.locator('.connection').textContent()).toBe('Exported')
    await press(page, '/')
    await page.keyboard.type('is:refused')
    await press(page, 'Enter')
    await expect.poll(() => page.locator('.hit-list button').count()).toBe(1)
    expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([])
    expect(errors).toEqual([])
  })

  test('runs nothing of a log made to attack it', async () => {
    const { page, requests, errors, dialogs } = await openExported(open, attackRows)
    await page.locator('.call').first().waitFor()
    for (const row of attackRows) {
      // oxlint-disable-next-line no-await-in-loop -- one call after the other
      await press(page, 'j')
      // oxlint-disable-next-line no-await-in-loop
      await page.locator(`.call-details[data-call-token="${row.callToken}"]`).waitFor()
    }
    expect(await page.evaluate(`window.${ranMark} ?? null`)).toBe(null)
    expect(await page.locator('a, img, iframe, base').count()).toBe(0)
    expect([...requests.filter((url) => !url.startsWith('file:')), ...dialogs, ...errors]).toEqual(
      [],
    )
  })
})

/** Exports the run with the page's own menu, and opens the file. */
async function openExported(open: OpenPage, rows: readonly ToolCallRow[]): Promise<Watched> {
  const { viewer } = await viewRows(rows)
  const { page } = await open(viewer.url)
  await page.locator('.call').first().waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'One HTML file' }).click(),
  ])
  const folder = mkdtempSync(join(tmpdir(), 'smithers-export-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'run.html')
  await download.saveAs(file)
  await viewer.close()
  expect(readFileSync(file, 'utf8')).toContain('id="smithers-run"')
  return open(pathToFileURL(file).href)
}

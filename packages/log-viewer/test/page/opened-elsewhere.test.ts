import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

/** A page of no site of ours, in a file. */
function fileWith(html: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'smithers-elsewhere-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'page.html')
  writeFileSync(path, html)
  return pathToFileURL(path).href
}

describeInBrowser('an address that is opened from elsewhere', (open) => {
  test('shows the page when a file leads to it, as smithers view --open does', async () => {
    const { viewer } = await viewRows(sampleRows)
    const refresh = `<meta http-equiv="refresh" content="0; url=${viewer.url}">`
    const { page, errors } = await open(fileWith(refresh))
    await page.locator('.call').first().waitFor()
    expect(errors).toEqual([])
    expect(page.url()).toBe(`${viewer.origin}/`)
  })

  test('shows the page when its link is followed, as in a terminal that is a page', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(fileWith(`<a href="${viewer.url}">open</a>`))
    await page.locator('a').click()
    await page.locator('.call').first().waitFor()
    expect(page.url()).toBe(`${viewer.origin}/`)
  })
})

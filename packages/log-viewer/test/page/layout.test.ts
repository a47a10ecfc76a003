import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { approvalOf } from '../fixtures/sample-approval.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

// Rewrites the pictures of the README; otherwise a run of the tests changes no file.
const folder = process.env['SMITHERS_SCREENSHOTS']

async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `viewer-${name}.png`) })
}

const widths = [
  { width: 1440, height: 860, shown: ['.runs', '.main', '.detail'] },
  { width: 1024, height: 768, shown: ['.runs', '.main', '.detail'] },
  { width: 390, height: 844, shown: ['.detail'] },
] as const

describeInBrowser('the layout', (open) => {
  test.for(
    widths.flatMap((size) =>
      (['light', 'dark'] as const).map((colorScheme) => ({ ...size, colorScheme })),
    ),
  )(
    'fits $width pixels in the $colorScheme scheme',
    async ({ width, height, shown, colorScheme }) => {
      const { viewer } = await viewRows(sampleRows, { title: 'smithers.db' })
      const { page } = await open(viewer.url, { viewport: { width, height }, colorScheme })
      await page.locator('.run').first().waitFor()
      await press(page, 'u')
      await page.locator('.facts').waitFor()
      for (const pane of ['.runs', '.main', '.detail']) {
        // oxlint-disable-next-line no-await-in-loop -- one pane after the other
        expect(await page.locator(pane).isVisible(), pane).toBe(shown.some((name) => name === pane))
      }
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow).toBe(0)
      await picture(page, `${width}-${colorScheme}`)
    },
  )

  test('goes from the runs to the calls to one call and back, one pane at a time, at 390 pixels', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url, { viewport: { width: 390, height: 844 } })
    await page.locator('.run').first().click()
    await page.locator('.call').first().waitFor()
    expect(await page.locator('.runs').isVisible()).toBe(false)
    await picture(page, '390-calls')
    await page.locator('.call[data-outcome="failed"]').click()
    await page.locator('.error-box').waitFor()
    expect(await page.locator('.main').isVisible()).toBe(false)
    await page.locator('.detail .back').click()
    await expect.poll(() => page.locator('.main').isVisible()).toBe(true)
    await page.locator('.to-runs').click()
    await expect.poll(() => page.locator('.runs').isVisible()).toBe(true)
  })

  test('lays the detail over the timeline at 1 024 pixels, and Escape closes it', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url, { viewport: { width: 1024, height: 768 } })
    await page.locator('.call').first().waitFor()
    expect(await page.locator('.detail').isVisible()).toBe(false)
    await press(page, 'j')
    await page.locator('.detail').waitFor()
    await press(page, 'Escape')
    await expect.poll(() => page.locator('.detail').isVisible()).toBe(false)
  })

  test('remembers the scheme that the reader chose', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url, { colorScheme: 'light' })
    await page.locator('.call').first().waitFor()
    const background = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByRole('button', { name: /^Colours: system/ }).click()
    await page.getByRole('button', { name: /^Colours: light/ }).click()
    const dark = await background()
    expect(dark).not.toBe(light)
    await page.reload()
    await page.locator('.call').first().waitFor()
    expect(await background()).toBe(dark)
  })

  test('shows what an edit that waits for approval would change', async () => {
    const { viewer, log } = await viewRows(sampleRows, { decide: true })
    log.approvals.request(approvalOf())
    const { page } = await open(viewer.url, { viewport: { width: 1440, height: 860 } })
    await page.locator('.call').first().waitFor()
    await press(page, 'a')
    await page.locator('.diff-line[data-kind="added"]').first().waitFor()
    expect(await page.locator('.diff-line[data-kind="removed"]').innerText()).toContain('bob')
    await picture(page, 'approval')
  })
})

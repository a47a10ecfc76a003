import { expect, test } from 'vitest'
import { describeInBrowser } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { sampleRow, sampleRows } from '../fixtures/sample-rows.ts'

describeInBrowser('a page that stays open', (open) => {
  test('shows a call as it starts and as it ends, and follow mode selects it', async () => {
    const { viewer, log } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    const { ownerId, ...row } = sampleRow({
      nodeId: 'receipt',
      toolName: 'send_receipt',
      startedAtMs: Date.now(),
      leaseExpiresAtMs: Date.now() + 600_000,
    })
    log.start({ ...row, ownerId }, { durability: 'relaxed', claim: null })
    const line = page.locator('.call[data-token="token-receipt-1-1"]')
    await expect.poll(() => line.getAttribute('data-outcome')).toBe('running')
    await expect.poll(() => line.getAttribute('aria-current')).toBe('true')
    log.finish(row.callToken, {
      status: 'success',
      outputJson: '"sent"',
      errorJson: null,
      effect: 'applied',
      finishedAtMs: Date.now() + 5,
    })
    await expect.poll(() => line.getAttribute('data-outcome')).toBe('ok')
    await expect.poll(() => page.locator('.call-details').innerText()).toContain('sent')
  })

  test('says so when the viewer has ended', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    expect(await page.locator('.connection').textContent()).toBe('Live')
    await viewer.close()
    await expect.poll(() => page.locator('.connection').textContent()).toBe('Not connected')
    expect(await page.locator('.call').count()).toBeGreaterThan(5)
  })

  test('fills with the first run when the log was empty', async () => {
    const { viewer, log } = await viewRows([])
    const { page } = await open(viewer.url)
    await page.getByText('Nothing has run yet').waitFor()
    const row = sampleRow({ startedAtMs: Date.now() })
    log.start(row, { durability: 'relaxed', claim: null })
    const line = page.locator(`.call[data-token="${row.callToken}"]`)
    await expect.poll(() => line.isVisible()).toBe(true)
  })
})

import { expect, test } from 'vitest'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { manyRows, sampleRows } from '../fixtures/sample-rows.ts'

describeInBrowser('the three questions by keyboard', (open) => {
  test('did it happen: one key finds the payment whose outcome is unknown, and says so in words', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await press(page, 'u')
    await page.locator('.answers').waitFor()
    expect(await page.locator('.call-title h2').textContent()).toBe('charge')
    const answer = await page.locator('.answers > div').first().innerText()
    expect(answer).toContain('Did it happen?')
    expect(answer).toContain('Perhaps')
    expect(await page.locator('.outcome-text').textContent()).toMatch(/may have taken effect/i)
  })

  test('how often: one key shows how many calls the key has', async () => {
    const again = sampleRows.map((row) =>
      row.callToken === 'token-pay-2-2'
        ? { ...row, idempotencyKey: 'dinner-42/pay/charge/5d1f9c' }
        : row,
    )
    const { viewer } = await viewRows(again)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await press(page, 'u')
    const answer = page.locator('.answers > div').nth(1)
    await answer.waitFor()
    expect(await answer.innerText()).toContain('How often?')
    expect(await answer.innerText()).toContain('2 calls')
  })

  test('what differs from the last try: three keys show the changed argument', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    // To the payment of attempt 1, and on to the payment of attempt 2.
    await press(page, 'u')
    await page.locator('.call-details[data-call-token="token-pay-1-2"]').waitFor()
    await press(page, 'j', 'j')
    await page.locator('.call-details[data-call-token="token-pay-2-2"]').waitFor()
    await page.locator('.diff').first().waitFor()
    expect(await page.locator('.diff-line[data-kind="removed"]').first().textContent()).toContain(
      '3333',
    )
    expect(await page.locator('.diff-line[data-kind="added"]').first().textContent()).toContain(
      '3334',
    )
  })
})

describeInBrowser('moving by keyboard', (open) => {
  test('j and k walk through every call and the help lists every key', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await press(page, 'j')
    const selected = page.locator('.call[aria-current]')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-find-bug-1-1')
    await press(page, 'j')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-find-bug-1-2')
    await press(page, 'k')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-find-bug-1-1')
    await press(page, 'f')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-find-bug-1-5')
    await press(page, '?')
    await page.locator('dialog.help').waitFor()
    const keys = await page.locator('dialog.help .keys kbd').allTextContents()
    expect(keys).toEqual(['j', 'k', 'u', 'f', '/', 'Enter', 'a', 'c', '0', 'Esc', '?'])
    await press(page, 'Escape')
    await expect.poll(() => page.locator('dialog.help').count()).toBe(0)
  })

  test('a run of 5 000 calls draws only what is on the screen, and u finds the unknown one far below', async () => {
    const { viewer } = await viewRows(manyRows(5000))
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    expect(await page.locator('.call').count()).toBeLessThan(80)
    await press(page, 'u')
    const selected = page.locator('.call[aria-current]')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-step-4-1-998')
    expect(await page.locator('.call').count()).toBeLessThan(80)
  })

  test('search finds a call by its text and Enter shows it in its run', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await press(page, '/')
    await page.keyboard.type('tool:charge rounded')
    await press(page, 'Enter')
    const hit = page.locator('.results [data-token]')
    await expect.poll(() => hit.count()).toBe(1)
    await press(page, 'j', 'Enter')
    const selected = page.locator('.timeline .call[aria-current]')
    await expect.poll(() => selected.getAttribute('data-token')).toBe('token-pay-2-2')
  })

  test('Enter searches for what was typed last, also before the page has drawn it', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await page.evaluate(`{
      const box = document.querySelector('#search')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, 'tool:charge rounded')
      box.dispatchEvent(new Event('input', { bubbles: true }))
      box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
    }`)
    await expect.poll(() => page.locator('.results [data-token]').count()).toBe(1)
    expect(await page.locator('#search').inputValue()).toBe('tool:charge rounded')
  })

  test('dragging along the axis zooms and 0 shows the whole run again', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    const bar = page.locator('.call .bar').first()
    const before = await bar.getAttribute('width')
    const axis = await page.locator('.axis-ticks').boundingBox()
    if (axis === null) throw new Error('no axis')
    await page.mouse.move(axis.x + 1, axis.y + 8)
    await page.mouse.down()
    await page.mouse.move(axis.x + axis.width / 4, axis.y + 30, { steps: 4 })
    await page.mouse.up()
    await expect
      .poll(async () => parseFloat((await bar.getAttribute('width')) ?? ''))
      .toBeGreaterThan(3 * parseFloat(before ?? ''))
    await press(page, '0')
    await expect.poll(() => bar.getAttribute('width')).toBe(before)
  })
})

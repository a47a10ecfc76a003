import { expect, test } from 'vitest'
import { attackRows, ranMark } from '../fixtures/attack-rows.ts'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'

const markOf = `({ ran: window.${ranMark} ?? null, polluted: {}.polluted ?? null })`

describeInBrowser('a log made to attack the page', (open) => {
  test('every call selected by keyboard: nothing runs, nothing is fetched, nothing becomes a link or an image', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page, errors, requests, dialogs, opened } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    for (const row of attackRows) {
      // oxlint-disable-next-line no-await-in-loop -- one call after the other, as a reader would
      await press(page, 'j')
      // oxlint-disable-next-line no-await-in-loop
      await page.locator(`.call[aria-current][data-token="${row.callToken}"]`).waitFor()
      // oxlint-disable-next-line no-await-in-loop
      await page.locator('.call-details .facts').waitFor()
      // oxlint-disable-next-line no-await-in-loop
      await page.evaluate(
        `document.querySelectorAll('details').forEach((part) => { part.open = true });
         document.querySelectorAll('.fold[aria-expanded=false]').forEach((part) => part.click())`,
      )
      // oxlint-disable-next-line no-await-in-loop
      await expect.poll(() => page.evaluate(markOf)).toEqual({ ran: null, polluted: null })
      // oxlint-disable-next-line no-await-in-loop
      expect(
        await page
          .locator('#app')
          .locator(
            'a, img, iframe, form:not(.decision-form), script, style, object, embed, base, meta, link',
          )
          .count(),
      ).toBe(0)
    }
    expect(dialogs).toEqual([])
    expect(opened).toEqual([])
    expect(errors).toEqual([])
    expect(requests.filter((url) => !url.startsWith(viewer.origin))).toEqual([])
    expect(await page.title()).toBe('smithers view')
  })

  test('search and the list of runs show the same texts as texts', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page, errors, requests } = await open(viewer.url)
    await page.locator('.run').first().waitFor()
    await press(page, '/')
    await page.keyboard.type('onerror')
    await press(page, 'Enter')
    await expect.poll(() => page.locator('.results [data-token]').count()).toBeGreaterThan(1)
    expect(await page.locator('#app').locator('a, img, iframe, script').count()).toBe(0)
    expect(await page.evaluate(markOf)).toEqual({ ran: null, polluted: null })
    expect(errors).toEqual([])
    expect(requests.filter((url) => !url.startsWith(viewer.origin))).toEqual([])
  })

  test('the browser of these tests does run such markup where a page lets it', async () => {
    const { page, dialogs } = await open('about:blank')
    await page.setContent('<p></p>')
    await page.evaluate(
      `document.querySelector('p').innerHTML = '<img src=x onerror="window.${ranMark}=1;alert(1)">'`,
    )
    await expect.poll(() => page.evaluate(markOf)).toEqual({ ran: 1, polluted: null })
    expect(dialogs).toEqual(['1'])
  })

  test('colours are removed and other control characters are named', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').nth(17).waitFor()
    const texts = await page.locator('.call .tool').allTextContents()
    expect(texts[16]).toContain('red \\u001b]8;;')
    expect(texts[16]).not.toContain('[31m')
    expect(texts[17]).toContain('safe\\u202egnp.exe\\u202c')
    expect(texts[17]).toContain('\\u0000 \\u0008 \\ud800 \\u2028')
    // oxlint-disable-next-line no-control-regex -- looks for control characters
    expect(texts.join('')).not.toMatch(/[\u0000-\u0008\u001b\u202e\u2066]/)
  })

  test('a value nested 3 000 deep is cut with a way to see it raw', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page } = await open(viewer.url)
    const row = page.locator('.call[data-token="attack-19"]')
    await row.click()
    const details = page.locator('.call-details')
    await details.waitFor()
    await details.getByRole('button', { name: 'Show raw' }).first().click()
    expect(await details.locator('.text-block').first().textContent()).toMatch(/^\[\[\[\[\[/)
  })
})

describeInBrowser('the token of the address', (open) => {
  test('moves to the storage of the tab and leaves the address; a reload still has it', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    expect(page.url()).toBe(`${viewer.origin}/`)
    expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage })')).toBe('{}')
    await page.reload()
    await page.locator('.call').first().waitFor()
  })

  test('without it the page shows no data and says how to open it', async () => {
    const { viewer } = await viewRows(attackRows)
    const { page } = await open(viewer.origin)
    await page.getByText('This page has no access').waitFor()
    expect(await page.locator('.call, .run').count()).toBe(0)
  })
})

import type { ToolCallRow } from '@smithers/tool-core'
import { expect, test } from 'vitest'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { sampleRow } from '../fixtures/sample-rows.ts'

const errorTexts = {
  TOOL_COMMAND_FAILED: {
    meaning: 'A command ended with <b>another</b> exit code.',
    advice: 'Read its output.',
  },
}

function failed(seq: number, code: string): ToolCallRow {
  const errorJson = JSON.stringify({ name: 'SmithersError', code, message: 'It failed.' })
  return sampleRow({ seq, status: 'error', outputJson: null, effect: 'unknown', errorJson })
}

describeInBrowser('the code of an error', (open) => {
  test('opens what it means and what to do, and asks no other site for it', async () => {
    const { viewer } = await viewRows([failed(1, 'TOOL_COMMAND_FAILED')], { errorTexts })
    const { page, requests, opened } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    await press(page, 'f')
    const text = page.locator('.code-text')
    await text.locator('summary').waitFor()
    expect(await text.getByText('Read its output.').isVisible()).toBe(false)
    await text.locator('summary').press('Enter')
    expect(await text.getByText('Read its output.').isVisible()).toBe(true)
    expect(await text.innerText()).toContain('<b>another</b>')
    expect(requests.filter((url) => !url.startsWith(viewer.origin))).toEqual([])
    expect(opened).toEqual([])
  })

  test('shows nothing more where its text is not known, whatever the code is called', async () => {
    const rows = ['constructor', '__proto__', 'TOOL_OTHER'].map((code, at) => failed(at + 1, code))
    const { viewer } = await viewRows(rows, { errorTexts })
    const { page, errors } = await open(viewer.url)
    await page.locator('.call').first().waitFor()
    for (const row of rows) {
      // oxlint-disable-next-line no-await-in-loop -- one call after the other
      await press(page, 'j')
      // oxlint-disable-next-line no-await-in-loop
      await page.locator(`.call-details[data-call-token="${row.callToken}"]`).waitFor()
      // oxlint-disable-next-line no-await-in-loop
      expect(await page.locator('.code-text').count()).toBe(0)
    }
    expect(errors).toEqual([])
  })
})

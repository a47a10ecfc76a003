import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { approvalOf } from '../fixtures/sample-approval.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

async function violationsIn(page: Page): Promise<string[]> {
  const found = await page.evaluate<{ readonly violations: Violation[] }>('axe.run(document)')
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)}: ${failureSummary}`),
  )
}

const states: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
  ['the timeline', (page) => page.locator('.call').first().waitFor()],
  [
    'a call of unknown outcome',
    async (page) => {
      await press(page, 'u')
      await page.locator('.facts').waitFor()
    },
  ],
  [
    'a failed call',
    async (page) => {
      await press(page, 'f')
      await page.locator('.code-text summary').click()
    },
  ],
  [
    'the search',
    async (page) => {
      await press(page, '/')
      await page.keyboard.type('charge')
      await press(page, 'Enter')
      await page.locator('.hit-list button').first().waitFor()
    },
  ],
  [
    'the approvals',
    async (page) => {
      await press(page, 'a')
      await page.locator('.decision-form').waitFor()
    },
  ],
  [
    'the help',
    async (page) => {
      await press(page, '?')
      await page.locator('dialog.help').waitFor()
    },
  ],
]

const errorTexts = {
  TOOL_COMMAND_FAILED: { meaning: 'It ended with another exit code than 0.', advice: 'Read it.' },
}

describeInBrowser('axe-core', (open) => {
  test.for(['light', 'dark'] as const)('finds nothing in the %s scheme', async (colorScheme) => {
    const { viewer, log } = await viewRows(sampleRows, { decide: true, errorTexts })
    log.approvals.request(approvalOf())
    // The policy of the page keeps every foreign script out, axe too.
    const { page } = await open(viewer.url, {
      colorScheme,
      bypassCSP: true,
      reducedMotion: 'reduce',
    })
    await page.locator('.call').first().waitFor()
    await page.evaluate(`${axe};0`)
    for (const [state, reach] of states) {
      // oxlint-disable-next-line no-await-in-loop -- one state after the other
      await reach(page)
      // oxlint-disable-next-line no-await-in-loop
      expect(await violationsIn(page), state).toEqual([])
    }
  })

  test.for([
    ['an empty log', 1440],
    ['a narrow window', 390],
  ] as const)('finds nothing in %s', async ([state, width]) => {
    const { viewer } = await viewRows(state === 'an empty log' ? [] : sampleRows)
    const { page } = await open(viewer.url, {
      bypassCSP: true,
      viewport: { width, height: 800 },
    })
    await page.evaluate(`${axe};0`)
    await page
      .locator(state === 'an empty log' ? '.empty-title' : '.run')
      .first()
      .waitFor()
    expect(await violationsIn(page)).toEqual([])
  })

  test('finds nothing where the page has no access', async () => {
    const { viewer } = await viewRows([])
    const { page } = await open(viewer.origin, { bypassCSP: true })
    await page.locator('[role=alert]').waitFor()
    await page.evaluate(`${axe};0`)
    expect(await violationsIn(page)).toEqual([])
  })
})

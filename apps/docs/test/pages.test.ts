import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { describeInBrowser } from './fixtures/browser.ts'
import { builtPages } from './fixtures/site-output.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pictures = join(import.meta.dirname, '../../../docs/images/site')

const guide = builtPages().find((path) => path.startsWith('guides/')) ?? ''
const pages = [
  ['home', ''],
  ['guide', guide],
  ['tool', 'tools/edit/'],
  ['error', 'errors/tool_patch_failed/'],
  ['api', 'reference/api/tool-core/'],
] as const
const sizes = [
  ['phone', 390, 844],
  ['desktop', 1280, 860],
] as const
const views = pages.flatMap(([name, path]) =>
  sizes.flatMap(([device, width, height]) =>
    (['light', 'dark'] as const).map((scheme) => ({ name, path, device, width, height, scheme })),
  ),
)

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** A script of the page makes blocks that scroll reachable by keyboard, when it is idle. */
const reachable = `[...document.querySelectorAll('.expressive-code pre')].every(
  (block) =>
    block.scrollWidth <= block.clientWidth ||
    block.hasAttribute('tabindex') ||
    !block.checkVisibility(),
)`

async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.waitForFunction(reachable)
  await page.evaluate(`${axe};0`)
  const found = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    'axe.run(document)',
  )
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}: ${nodes[0]?.failureSummary}`,
  )
}

/** Only when asked for, so that a run of the tests changes no file. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env['SMITHERS_SCREENSHOTS'] !== '1') return
  mkdirSync(pictures, { recursive: true })
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 64, effort: 10 })
    .toFile(join(pictures, `${name}.png`))
}

describeInBrowser('a page', (open) => {
  test.for(views)(
    'is accessible, silent and no wider than the screen: $name, $device, $scheme',
    async ({ name, path, device, width, height, scheme }) => {
      const { page, errors, hosts } = await open(path, {
        viewport: { width, height },
        colorScheme: scheme,
      })
      expect(await page.getAttribute('html', 'data-theme')).toBe(scheme)
      expect(await page.locator('h1').count()).toBe(1)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow).toBe(0)
      // One of each kind is enough to look at.
      if ((device === 'desktop') === (scheme === 'light')) await picture(page, `${name}-${device}`)
      expect(await violationsIn(page)).toEqual([])
      expect(errors).toEqual([])
      expect([...hosts]).toEqual(['127.0.0.1'])
    },
  )

  test('is found by a word in it', async () => {
    const { page, errors } = await open('')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('dialog input').fill('TOOL_CALL_FENCED')
    const hit = page.locator('dialog a[href*="errors/tool_call_fenced"]').first()
    await hit.click()
    await page.waitForURL('**/errors/tool_call_fenced/**')
    expect(await page.locator('h1').innerText()).toBe('TOOL_CALL_FENCED')
    expect(errors).toEqual([])
  })

  test('is there as Markdown, with a link to it', async () => {
    const { page } = await open('tools/edit/')
    const address = await page.locator('.as-markdown a').getAttribute('href')
    const answer = await page.request.get(new URL(address ?? '', page.url()).href)
    expect(answer.status()).toBe(200)
    expect(await answer.text()).toMatch(/^# edit\n[^]*## What it refuses and why/u)
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { serveViewer } from '@smithers/log-viewer'
import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser, press } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { approvalOf } from '../fixtures/sample-approval.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

interface Refund {
  readonly url: string
  /** The exit code of the process, once it has ended. */
  readonly ended: Promise<number>
  /** What the tool has done so far, a line each time. */
  readonly effects: () => string
}

/** A process that asks for a refund, and a viewer over its log in this one. */
async function waitingRefund(): Promise<Refund> {
  const folder = mkdtempSync(join(tmpdir(), 'smithers-view-'))
  const logFile = join(folder, 'log.db')
  const effectFile = join(folder, 'effects.txt')
  const log = createSqliteLog({ path: logFile })
  const viewer = await serveViewer({ log, decide: true })
  const program = join(import.meta.dirname, '../fixtures/programs/refund.ts')
  const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const agent = spawn(process.execPath, [...flags, program, logFile, effectFile], {
    stdio: 'inherit',
  })
  // From the start: it may have ended before a test comes to look.
  const ended = once(agent, 'exit').then(([code]) => Number(code))
  onTestFinished(async () => {
    agent.kill()
    await viewer.close()
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    url: viewer.url,
    ended,
    effects: () => (existsSync(effectFile) ? readFileSync(effectFile, 'utf8') : ''),
  }
}

describeInBrowser('an approval in the page', (open) => {
  test('lets the call run once in another process, after a second confirmation', async () => {
    const { url, ended, effects } = await waitingRefund()
    const { page } = await open(url)
    await expect.poll(() => page.locator('.count').textContent()).toBe('1')
    await press(page, 'a')
    const form = page.locator('.decision-form')
    await form.getByRole('button', { name: 'Approve…' }).click()
    const confirm = form.getByRole('alertdialog')
    expect(await confirm.innerText()).toContain('not known to be safe to repeat')
    // The control: one click has decided nothing.
    expect(effects()).toBe('')
    await form.getByRole('button', { name: 'Yes, run it' }).click()
    expect(await ended).toBe(0)
    expect(effects()).toBe('bob 7\n')
    await page.getByText('Nothing waits').waitFor()
  })

  test('runs the call with changed arguments, which the schema of the tool must allow', async () => {
    const { url, ended, effects } = await waitingRefund()
    const { page } = await open(url)
    await expect.poll(() => page.locator('.count').textContent()).toBe('1')
    await press(page, 'a')
    const form = page.locator('.decision-form')
    await form.getByRole('button', { name: 'Change the arguments' }).click()
    const approveWith = async (text: string): Promise<void> => {
      await form.locator('textarea').fill(text)
      await form.getByRole('button', { name: 'Approve…' }).click()
    }
    await approveWith('{"to":"bob","cents":')
    expect(await form.locator('.problem').textContent()).toContain('not valid JSON')
    await approveWith('{"to":"bob","cents":"many"}')
    await form.getByRole('button', { name: 'Yes, run it' }).click()
    await expect.poll(() => form.locator('.problem').textContent()).toMatch(/cents/)
    expect(effects()).toBe('')
    await approveWith('{"to":"bob","cents":5}')
    await form.getByRole('button', { name: 'Yes, run it' }).click()
    expect(await ended).toBe(0)
    expect(effects()).toBe('bob 5\n')
  })

  test('cannot be given where the viewer only shows, and the page says how', async () => {
    const { viewer, log } = await viewRows(sampleRows)
    log.approvals.request(approvalOf())
    const { page } = await open(viewer.url)
    await page.locator('.run').first().waitFor()
    await press(page, 'a')
    await page.getByText('smithers view --decide').waitFor()
    expect(await page.locator('.decision-form').count()).toBe(0)
    expect(await page.locator('.diff-line[data-kind="added"]').textContent()).toContain(
      'bob   33.34',
    )
  })

  test('records a rejection with its comment', async () => {
    const { viewer, log } = await viewRows(sampleRows, { decide: true })
    log.approvals.request(approvalOf())
    const { page } = await open(viewer.url)
    await page.locator('.run').first().waitFor()
    await press(page, 'a')
    const form = page.locator('.decision-form')
    await form.locator('input').fill('Ask alice first')
    await form.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Nothing waits').waitFor()
    expect(log.approvals.list({})).toMatchObject([
      { status: 'rejected', comment: 'Ask alice first' },
    ])
  })
})

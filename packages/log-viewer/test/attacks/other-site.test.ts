import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser } from '../fixtures/browser.ts'
import { viewRows } from '../fixtures/open-sample.ts'
import { sampleRows } from '../fixtures/sample-rows.ts'

async function otherSite(html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describeInBrowser('a page of another site', (open) => {
  test('can neither read the log nor decide, even with the token', async () => {
    const { viewer } = await viewRows(sampleRows, { decide: true })
    const { page } = await open(await otherSite('<p>other</p>'))
    const attempt = (path: string, init: object): Promise<unknown> =>
      page.evaluate(
        `fetch(${JSON.stringify(viewer.origin + path)}, ${JSON.stringify(init)}).then(
          async (response) => response.type === 'opaque' ? 'opaque' : await response.text(),
          (error) => 'failed')`,
      )
    const headers = { Authorization: `Bearer ${viewer.token}` }
    expect(await attempt('/api/runs', { headers })).toBe('failed')
    expect(await attempt('/api/runs', { mode: 'no-cors' })).toBe('failed')
    expect(await attempt('/api/approvals/decide', { method: 'POST', headers, body: '{}' })).toBe(
      'failed',
    )
    // The control: the same request from the page itself is answered.
    const own = await open(viewer.url)
    await own.page.locator('.call').first().waitFor()
    expect(
      await own.page.evaluate(
        `fetch('/api/runs', { headers: ${JSON.stringify(headers)} }).then((response) => response.status)`,
      ),
    ).toBe(200)
  })

  test('cannot show the viewer in a frame', async () => {
    const { viewer } = await viewRows(sampleRows)
    const { page } = await open(await otherSite(`<iframe src="${viewer.url}"></iframe>`))
    await expect.poll(() => page.frames().length).toBe(2)
    const [, frame] = page.frames()
    await expect
      .poll(
        async () => (await frame?.evaluate('document.querySelectorAll("#app, .call").length')) ?? 0,
      )
      .toBe(0)
  })
})

import { expect, test } from 'vitest'
import { rawRequest } from '../fixtures/raw-request.ts'
import { logWithLostPayment } from '../fixtures/sample-log.ts'
import { served } from '../fixtures/served.ts'

test('another site that opens a window gets the document without data, and nothing else', async () => {
  const viewer = await served({ log: logWithLostPayment() })
  const opened = {
    host: `127.0.0.1:${viewer.port}`,
    authorization: `Bearer ${viewer.token}`,
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  const asked = (path: string, headers: object = {}, method = 'GET') =>
    rawRequest(viewer.port, { path, method, headers: { ...opened, ...headers } })
  const answers = await Promise.all([
    asked('/'),
    asked('/', { 'sec-fetch-dest': 'iframe' }),
    asked('/', { 'sec-fetch-dest': 'object' }),
    asked('/', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }),
    asked('/', { origin: 'null' }),
    asked('/', {}, 'POST'),
    asked('/', { host: 'evil.example' }),
    asked('/page.js'),
    asked('/api/runs'),
    asked('/api/export?runId=run-1&format=jsonl'),
  ])
  expect(answers.map(({ status }) => status)).toEqual([
    200, 403, 403, 403, 403, 403, 421, 403, 403, 403,
  ])
  for (const { body } of answers) expect(body).not.toContain('run-1')
  // The control: without the mark of another site the same requests are answered.
  const own = { 'sec-fetch-site': 'same-origin' }
  expect((await asked('/api/runs', own)).body).toContain('run-1')
})

import { describe, expect, test } from 'vitest'
import type { QueuedRun } from '@smithers/worker'
import { workerText } from '../../src/terminal/worker-text.ts'

const run: QueuedRun = {
  runId: 'r',
  definition: 'pay',
  queue: 'default',
  priority: 0,
  status: 'queued',
  worker: null,
  failures: 0,
  lastErrorJson: null,
  runAt: new Date(0),
  hasWorker: true,
}

describe('the worker of a run', () => {
  test.for<[string, Partial<QueuedRun>]>([
    ['', {}],
    ['', { lastErrorJson: '{"message":"no stock"}' }],
    ['blue', { status: 'running', worker: 'blue' }],
    ['no worker for pay', { hasWorker: false }],
    ['waits for its version of pay', { lastErrorJson: '{"code":"WORKFLOW_CHANGED"}' }],
  ])('is shown as "%s"', ([text, more]) => {
    expect(workerText({ ...run, ...more })).toBe(text)
  })
})

import { serveWorker } from '@smithers/worker'
import { expect, onTestFinished, test } from 'vitest'
import { createTestServer, type TestServer } from '../../log-postgres/test/fixtures/test-server.ts'
import { paymentWorkflows } from '../demo/payment-workflows.ts'
import { describeWithServer, openCluster, shortLeaseMs } from './fixtures/cluster.ts'

/** A server of this test, which stops it. */
async function openServer(): Promise<TestServer> {
  const server = await createTestServer()
  onTestFinished(() => server.remove())
  return server
}

describeWithServer('a worker whose database is away', () => {
  test('at its start is refused with a code that says what to do', async () => {
    const { connectionString, stop } = await openServer()
    await stop('SIGINT')
    const workflows = paymentWorkflows('http://127.0.0.1:1/')
    await expect(serveWorker({ connectionString, workflows })).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'no-connection' },
      message: expect.stringContaining('Check that the PostgreSQL server runs') as string,
    })
  })

  test('in the middle of a payment for longer than its lease stops the run, goes on when it is back, and pays once', async () => {
    const server = await openServer()
    const cluster = await openCluster(server.connectionString)
    const booked = cluster.payments.holdNext('r-2')
    const worker = cluster.worker({ leaseMs: shortLeaseMs })
    await worker.ready
    await cluster.enqueue({ runId: 'r' })
    const { left } = await booked
    await server.stop('SIGINT')
    // It gives up the payment when its lease ends, since nothing renews it.
    await left
    await server.start()
    await cluster.untilStatus('r', 'finished')
    expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1, 'r-3': 1 })
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })
})

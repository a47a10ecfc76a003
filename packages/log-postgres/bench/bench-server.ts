import { createTestServer, type TestServer } from '../test/fixtures/test-server.ts'

/** A server as one is run in earnest: it waits for the disk and cleans up after itself. */
export async function createBenchServer(folder?: string): Promise<TestServer> {
  const settings = {
    fsync: 'on',
    full_page_writes: 'on',
    autovacuum: 'on',
    shared_buffers: '256MB',
    max_wal_size: '4GB',
  }
  return await createTestServer({ settings, ...(folder === undefined ? {} : { folder }) })
}

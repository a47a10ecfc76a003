import { createTestServer, type TestServer } from './fixtures/test-server.ts'

let server: TestServer | undefined

/** One server for all tests of the package. `SMITHERS_TEST_POSTGRES` names another one to test with. */
export async function setup(): Promise<void> {
  if (process.env['SMITHERS_TEST_POSTGRES'] !== undefined) return
  try {
    server = await createTestServer()
    process.env['SMITHERS_TEST_POSTGRES'] = server.connectionString
  } catch (error) {
    if (process.env['SMITHERS_REQUIRE_POSTGRES'] === '1') throw error
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
    process.env['SMITHERS_TEST_POSTGRES_MISSING'] = reason
  }
}

export async function teardown(): Promise<void> {
  await server?.remove()
}

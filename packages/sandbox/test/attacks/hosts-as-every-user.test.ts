import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'
import { type Listeners, openListeners } from '../fixtures/listeners.ts'

describeConfined(
  'a listener of this machine',
  (confinement) => {
    let listeners: Listeners
    beforeAll(async () => {
      listeners = await openListeners(confinement.directory())
    })
    afterAll(() => listeners.close())

    // The variables lead clients to the loopback device of the command itself.
    const curl = (name: string): string =>
      `curl -sS -m 100 --noproxy '' http://127.0.0.1:${listeners.port}/${name}`

    test('is reached only where a rule spells its address and port out', async () => {
      const rootDir = confinement.directory()
      const allowed = { rootDir, network: { allow: [`127.0.0.1:${listeners.port}`] } }
      const others = { rootDir, network: { allow: ['good.test:*', '127.0.0.1'] } }
      const [inside] = await confinement.sandbox(allowed, [
        `${curl('allowed')} && ${curl('twice')}`,
      ])
      expect(inside).toMatchObject({ status: 'exited', violations: [] })
      expect(await listeners.received()).toEqual([
        'GET /allowed HTTP/1.1\r',
        'GET /twice HTTP/1.1\r',
      ])
      const [refused] = await confinement.sandbox(others, [curl('refused')])
      expect(refused?.violations).toMatchObject([{ rule: 'network.allow' }])
      expect(await listeners.received()).toEqual([])
    })
  },
  ['namespaces', 'bubblewrap'],
)

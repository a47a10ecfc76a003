import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import payloads from '../../vectors/payloads.json' with { type: 'json' }
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustStart, success } from '../sample-row.ts'

export const vectors: ConformanceGroup = {
  title: '11 vectors',
  tests: payloads.map(({ name, json, utf8Sha256 }) => ({
    name: `${name} comes back byte for byte as input, output and error`,
    async run({ open }) {
      const log = await open()
      const first = await mustStart(log, { seq: 1, inputJson: json })
      const second = await mustStart(log, { seq: 2, inputJson: json })
      await log.finish(first, success({ outputJson: json }))
      await log.finish(second, failure({ errorJson: json }))
      const [succeeded, failed] = await log.list({})
      const stored = [
        succeeded?.inputJson,
        succeeded?.outputJson,
        failed?.inputJson,
        failed?.errorJson,
      ]
      for (const text of stored) {
        assert.equal(text, json)
        assert.equal(
          createHash('sha256')
            .update(text ?? '')
            .digest('hex'),
          utf8Sha256,
        )
        assert.deepEqual(JSON.parse(text ?? ''), JSON.parse(json))
      }
    },
  })),
}

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

describe('vectors', () => {
  it.each(['canonical-json.json', 'idempotency-keys.json'])(
    '%s is what tool-core is tested with, byte for byte',
    (name) => {
      const published = fileURLToPath(
        import.meta.resolve(`@smithers/log-conformance/vectors/${name}`),
      )
      const tested = new URL(`../../tool-core/test/fixtures/${name}`, import.meta.url)
      expect(readFileSync(published, 'utf8')).toBe(readFileSync(tested, 'utf8'))
    },
  )
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

describe('README', () => {
  it('shows the example adapter that the suite runs on, letter by letter', () => {
    const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
    const [, shown] =
      /<!-- file: test\/fixtures\/json-lines-log\.ts -->\n+```ts\n(.*?)^```$/ms.exec(
        read('../README.md'),
      ) ?? []
    expect(shown).toBe(read('fixtures/json-lines-log.ts'))
  })
})

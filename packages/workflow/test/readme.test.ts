import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'

describe('the README', () => {
  test('shows what its example prints', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const printed: string[] = []
    const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
      const texts = values.map((value) => (typeof value === 'string' ? value : inspect(value)))
      printed.push(texts.join(' '))
    })
    await import('./fixtures/programs/readme-example.tsx')
    log.mockRestore()
    const shown = /It prints:\n\n```\n(.*?)\n```/s.exec(readme)?.[1]
    expect(printed.join('\n')).toBe(shown)
  })
})

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../fixtures/workspace.ts'

describe('temporary names', () => {
  it('do not reveal the next one', async () => {
    const { root, files } = createWorkspace({})
    const seen: string[] = []
    const watcher = async function* (): AsyncGenerator<Uint8Array> {
      seen.push(...readdirSync(root).filter((name) => name.endsWith('.tmp')))
      yield Buffer.from('x')
    }
    for (const name of ['a', 'b', 'c']) await files.write(name, watcher())
    const stems = seen.map((name) => name.replace('.smithers-', '').slice(0, 8))
    expect(seen).toHaveLength(3)
    expect(new Set(stems).size).toBe(3)
    // What a way of counting on would use next.
    for (let index = 0; index < 500; index += 1) {
      for (const name of seen) {
        const next = name.replace(/^(\.smithers-)[\w-]{16}/u, `$1${index.toString(36)}`)
        writeFileSync(join(root, next), '')
      }
    }
    await files.write('d', 'text')
    expect(readFileSync(join(root, 'd'), 'utf8')).toBe('text')
  })
})

import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

describe('options of the methods', () => {
  it('are refused when they do not exist', async () => {
    const { files } = createWorkspace({ f: 'text', 'd/f': '' })
    const wrong = { wrong: 1 } as never
    for (const call of [
      () => files.read('f', wrong),
      () => files.readText('f', wrong),
      () => files.readLines('f', wrong),
      () => files.update('f', () => 'x', wrong),
      () => files.updateText('f', () => 'x', wrong),
      () => files.open('f', wrong),
      () => files.remove('d', wrong),
      () => files.stat('f', wrong),
    ]) {
      await expect(call()).rejects.toThrow('Unknown option "wrong"')
    }
    expect(await files.readText('f', { maxBytes: 4 })).toBe('text')
    await expect(files.remove('d', { recursive: 1 } as never)).rejects.toThrow('recursive is 1.')
    expect(await files.exists('d/f')).toBe(true)
  })
})

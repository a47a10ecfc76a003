import { describe, expect, it } from 'vitest'
import { createWorkspace, openDescriptors } from '../fixtures/workspace.ts'

describe('many operations at once', () => {
  it('do not fail, leak descriptors or block the event loop', async () => {
    const { files } = createWorkspace({ 'd/f': 'x'.repeat(1000) })
    const before = openDescriptors()
    let turns = 0
    const counter = setInterval(() => {
      turns += 1
    }, 1)
    const many = Array.from({ length: 1000 }, (_, index) => index)
    await Promise.all(many.map((index) => files.write(`w/${index % 50}/${index}`, 'text')))
    await Promise.all(many.map(() => files.readText('d/f')))
    await Promise.all(
      many.map((index) => files.write(`r/${index}`, 'text', { durability: 'relaxed' })),
    )
    await Promise.all(many.map(() => files.stat('d/f')))
    clearInterval(counter)
    expect(openDescriptors()).toBe(before)
    expect(turns).toBeGreaterThan(3)
    expect(await files.list('r')).toHaveLength(1000)
  })
})

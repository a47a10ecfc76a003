import { userInfo } from 'node:os'
import { expect, test, vi } from 'vitest'
import { userName } from '../../src/terminal/user-name.ts'

const system = vi.hoisted(() => ({ hasName: true }))

vi.mock('node:os', async (load) => {
  const actual = await load<typeof import('node:os')>()
  return {
    ...actual,
    userInfo: () => {
      if (system.hasName) return { username: 'ada' }
      throw new Error('uv_os_get_passwd returned ENOENT')
    },
  }
})

test('a user has a name, or a number where the system knows no name', () => {
  system.hasName = true
  expect(userName()).toBe('ada')
  system.hasName = false
  // The control: asking the system fails.
  expect(() => userInfo()).toThrow('ENOENT')
  expect(userName()).toBe(`uid ${process.getuid?.()}`)
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

describeConfined('the open descriptors of a command', (confinement) => {
  test('are standard input, output and error alone: none of the confining program', async () => {
    const root = confinement.directory()
    mkdirSync(join(root, '.git'))
    writeFileSync(join(root, '.git/config'), '')
    // The runner may put /dev/null in the place of what this process inherited.
    const program = `
import os
for n in range(3, 256):
    try: target = os.readlink(f"/proc/self/fd/{n}")
    except OSError: continue
    if target != "/dev/null": print(n, target)
`
    const { stdout, status } = await confinement.run(root, ['/usr/bin/python3', '-c', program], {
      policy: { protect: ['.git/config'], deny: [] },
    })
    expect([status, stdout]).toEqual([0, ''])
  })
})

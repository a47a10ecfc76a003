import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newSandbox } from '../../fixtures/sandboxes.ts'

const programs = join(import.meta.dirname, '../../fixtures/programs')

describeIsolations('sandbox.run', (isolation) => {
  test('keeps the order of lines that the two streams print one after the other', async () => {
    const sandbox = await newSandbox({ isolation, files: { read: [programs] } })
    const { output } = await sandbox.run('node', [join(programs, 'interleave.mjs')])
    expect(output).toBe('line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n')
  })

  test('holds the command back while onOutput is busy', async () => {
    const sandbox = await newSandbox({ isolation })
    const script = `
      const { writeSync } = require('node:fs')
      const block = Buffer.alloc(65536)
      for (let n = 0; n < 64; n++) { writeSync(1, block); writeSync(2, String(n) + ' ') }`
    let written = 0
    let free = (): void => {}
    const freed = new Promise<void>((resolve) => {
      free = resolve
    })
    const running = sandbox.run('node', ['-e', script], {
      onOutput: ({ stream, bytes }) => {
        if (stream === 'stdout') return freed
        written = Number(Buffer.from(bytes).toString().trim().split(' ').at(-1))
        return undefined
      },
    })
    // The program gets as far as the pipe's buffers allow, and then no further.
    await expect.poll(() => written).toBeGreaterThan(0)
    let before = -1
    await expect
      .poll(() => [before, (before = written)].every((n) => n === written), { interval: 200 })
      .toBe(true)
    expect(written).toBeLessThan(40)
    free()
    expect(await running).toMatchObject({ exitCode: 0, output: expect.stringMatching(/omitted/) })
  })

  test('kills the command and rejects with what onOutput threw', async () => {
    const sandbox = await newSandbox({ isolation })
    const failure = new Error('consumer')
    for (const onOutput of [
      () => Promise.reject(failure),
      () => {
        throw failure
      },
    ]) {
      await expect(
        sandbox.run('sh', ['-c', 'echo x; exec sleep 86400'], { onOutput }),
      ).rejects.toBe(failure)
    }
  })

  test('runs 64 commands at once, each with its own output', async () => {
    const sandbox = await newSandbox({ isolation })
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, n) => sandbox.run('sh', ['-c', `echo ${n}; echo e${n} >&2`])),
    )
    expect(results.map(({ status, stdout, stderr }) => [status, stdout, stderr])).toEqual(
      results.map((_, n) => ['exited', `${n}\n`, `e${n}\n`]),
    )
  })
})

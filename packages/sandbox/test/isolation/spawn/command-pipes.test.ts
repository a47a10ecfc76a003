import { once } from 'node:events'
import { closeSync, constants, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, test } from 'vitest'
import {
  arePipesReady,
  type CommandPipe,
  makePipes,
  openCommandPipe,
} from '../../../src/isolation/spawn/command-pipes.ts'
import { describeIsolations, newSandbox } from '../../fixtures/sandboxes.ts'
import { openDescriptors } from '../../fixtures/workspace.ts'

/** A stream gives its descriptor back in one of the next turns. */
async function descriptorsAtRest(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate()
  return openDescriptors()
}

describe.runIf(process.platform === 'linux')('real pipes', () => {
  describeIsolations('for a command', (isolation) => {
    it('can be opened by name', async () => {
      const sandbox = await newSandbox({ isolation })
      const script = 'echo out > /dev/stdout; echo err > /dev/stderr; echo tee | tee /dev/stderr'
      const { stdout, stderr, exitCode } = await sandbox.run('sh', ['-c', script])
      expect({ stdout, stderr, exitCode }).toEqual({
        stdout: 'out\ntee\n',
        stderr: 'err\ntee\n',
        exitCode: 0,
      })
    })

    it('keep the exact order of both streams when they are one', async () => {
      const sandbox = await newSandbox({ isolation })
      const script = 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; echo last'
      const expected = [1, 2, 3, 4, 5].map((index) => `out ${index}\nerr ${index}\n`).join('')
      // With two pipes, about half of the runs were out of order.
      for (let round = 0; round < 20; round += 1) {
        const result = await sandbox.run('sh', ['-c', script], { mergeOutput: true })
        expect(result).toMatchObject({
          status: 'exited',
          output: `${expected}last\n`,
          stdout: `${expected}last\n`,
          stderr: '',
        })
      }
    })

    it('hold no more descriptors, however many commands ran', async () => {
      const sandbox = await newSandbox({ isolation })
      await sandbox.run('true')
      const before = await descriptorsAtRest()
      for (let round = 0; round < 100; round += 1) {
        expect(await sandbox.run('echo', [String(round)])).toMatchObject({ output: `${round}\n` })
      }
      await sandbox.run('./missing')
      // Those of pipes that wait for their command come in batches.
      expect(await descriptorsAtRest()).toBeLessThan(before + 40)
    })

    it('serve many commands at once, each its own', async () => {
      const sandbox = await newSandbox({ isolation })
      const names = Array.from({ length: 40 }, (_, index) => `${index}\n`)
      const script = 'printf %s "$0"; printf %s "$0" >&2; test -p /dev/stdout'
      const results = await Promise.all(
        names.map((name) => sandbox.run('sh', ['-c', script, name])),
      )
      expect(results.map(({ stdout }) => stdout)).toEqual(names)
      expect(results.map(({ stderr }) => stderr)).toEqual(names)
      expect(results.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0))
    })

    it('are not taken from the command after one that left its output open', async () => {
      const sandbox = await newSandbox({ isolation })
      const outputs: string[] = []
      for (let round = 0; round < 5; round += 1) {
        // Leaves the session, its parents and its environment: without a namespace nothing finds it.
        const left = 'setsid env -i sh -c "sleep 0.2; echo intruder; echo intruder >&2" &'
        await sandbox.run('sh', ['-c', `(${left}) ; exit 0`], { timeoutMs: 5_000 })
        outputs.push((await sandbox.run('sh', ['-c', 'sleep 0.05; echo own'])).output)
      }
      expect(outputs).toEqual(outputs.map(() => 'own\n'))
    })
  })

  test('leave no names behind', async () => {
    while (!arePipesReady()) await makePipes()
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`smithers-pipes-${process.pid}-`)),
    ).toEqual([])
  })

  test('serve one command only, so that what outlived it reads nothing of a later one', async () => {
    while (!arePipesReady()) await makePipes()
    const first = openCommandPipe()
    if (first === undefined) throw new Error('there are no pipes here')
    // As a process does that has /dev/stdout: one end is enough to open the other.
    const eavesdropper = openSync(
      `/proc/self/fd/${first.childEnd}`,
      constants.O_RDONLY | constants.O_NONBLOCK,
    )
    first.stream.destroy()
    closeSync(first.childEnd)
    await once(first.stream, 'close')
    while (!arePipesReady()) await makePipes()
    const later: CommandPipe[] = []
    for (let pipe = openCommandPipe(); pipe !== undefined; pipe = openCommandPipe()) {
      later.push(pipe)
      writeSync(pipe.childEnd, 'secret')
    }
    expect(later.length).toBeGreaterThan(1)
    // The end of input, not a byte and not "nothing yet": no writer has this pipe any more.
    expect(readSync(eavesdropper, Buffer.alloc(10), 0, 10, null)).toBe(0)
    closeSync(eavesdropper)
    for (const { stream, childEnd } of later) {
      closeSync(childEnd)
      stream.destroy()
      await once(stream, 'close')
    }
  })
})

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SharedByCalls } from '../src/bundle/shared-by-calls.ts'

test('two thousand roots take no more than 256 descriptors', () => {
  const program = join(import.meta.dirname, 'fixtures/programs/use-many-roots.ts')
  const node = `exec "$0" --conditions=@smithers/source --disable-warning=ExperimentalWarning "$@"`
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', `ulimit -n 256 && ${node}`, process.execPath, program, '2000', '200'],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  const { written, open } = JSON.parse(stdout) as { written: number; open: number }
  expect(written).toBe(2000)
  expect(open).toBeLessThan(256)
})

test('a value that calls share is closed with its last call once others took its place', async () => {
  const closed: string[] = []
  const shared = new SharedByCalls<string>({
    most: 2,
    idleMs: 1_000,
    close: (value) => void closed.push(value),
  })
  const use = <Result>(key: string, work: () => Promise<Result> | Result): Promise<Result> =>
    shared.use(
      { key, owner: {}, open: () => key.toUpperCase(), isOutsideRun: true, run: undefined },
      work,
    )
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const calls = [first, second].map(({ promise }) => use('a', () => promise))
  for (const key of ['b', 'c']) await use(key, () => {})
  first.resolve()
  await calls[0]
  expect(closed).toEqual([])
  second.resolve()
  await calls[1]
  expect(closed).toEqual(['A'])
  await use('d', () => {})
  expect(closed).toEqual(['A', 'B'])
})

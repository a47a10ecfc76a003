import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { grep } from '@smithers/builtin-tools'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSwapper } from '../../../sandbox/test/fixtures/swapper.ts'
import { ripgrepPath } from '../../src/search/find-ripgrep.ts'

const directories = 24
const searches = 120

/** A root whose directories are exchanged with links to directories outside, as fast as it goes. */
async function startAttack() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'search-')))
  const root = join(base, 'root')
  const pairs = Array.from({ length: directories }, (_, index) => {
    const [inside, outside] = [join(root, `d${index}`), join(base, `outside${index}`)]
    for (const [directory, text] of [
      [inside, 'token of the root'],
      [outside, 'token SECRET'],
    ] as const) {
      mkdirSync(directory, { recursive: true })
      for (const name of ['a', 'b', 'c']) writeFileSync(join(directory, name), `${text}\n`)
    }
    mkdirSync(join(outside, 'SECRET-name'), { mode: 0o000 })
    symlinkSync(outside, join(root, `.link${index}`))
    return [inside, join(root, `.link${index}`)] as const
  })
  const swapper = await startSwapper(pairs)
  onTestFinished(async () => {
    await swapper.stop()
    // Which of a pair it is in depends on the last exchange; ordinary users cannot remove what they cannot list.
    const closed = pairs.flat().map((directory) => join(directory, 'SECRET-name'))
    for (const directory of closed.filter((path) => existsSync(path))) chmodSync(directory, 0o755)
    rmSync(base, { recursive: true, force: true })
  })
  return root
}

describe.runIf(process.platform === 'linux')('a directory swapped during a search', () => {
  test('shows nothing from outside the root, though ripgrep itself prints it', async () => {
    const root = await startAttack()
    const context = createToolContext({ rootDir: root, isolation: 'none' })
    const program = await ripgrepPath('TOOL_GREP_FAILED')
    let leaks = 0
    let found = 0
    for (let round = 0; round < searches; round += 1) {
      const text = await runWithToolContext(context, () =>
        grep.execute({ pattern: 'token', context: 1 }, { toolCallId: `c${round}`, messages: [] }),
      )
      if (text.includes('SECRET')) leaks += 1
      if (text.includes('token of the root')) found += 1
    }
    expect(leaks).toBe(0)
    expect(found).toBeGreaterThan(0)

    // The same search by ripgrep alone, until it has met an exchange.
    let controls = 0
    while (controls === 0) {
      const { stdout } = await promisify(execFile)(program, ['token', './'], { cwd: root }).catch(
        (error: { stdout: string }) => error,
      )
      if (stdout.includes('SECRET')) controls += 1
    }
    expect(controls).toBe(1)
  })
})

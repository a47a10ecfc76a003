import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSandboxFiles } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import { newRoot, newSandbox } from '../fixtures/sandboxes.ts'
import { startSwapper } from '../fixtures/swapper.ts'

/** On a busy machine it takes more until the control is breached, and until a command has started at all. */
const rounds = 300

/** A directory in the root and a link beside it that leads outside; the attacker exchanges them all the time. */
function arena(): { root: string; pair: readonly [string, string] } {
  const base = newRoot()
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  mkdirSync(join(root, 'work'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(root, 'work/where'), 'inside')
  writeFileSync(join(outside, 'where'), 'outside')
  symlinkSync(outside, join(root, 'link'))
  return { root, pair: [join(root, 'work'), join(root, 'link')] }
}

// Without isolation: with it, the path would be followed inside the command's own mounts.
describe('a working directory that is exchanged for a link', () => {
  test('never makes a command start outside, though it does when the path is checked and then used', async () => {
    const { root, pair } = arena()
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    const files = createSandboxFiles({ rootDir: root })
    const swapper = await startSwapper([pair])
    const seen = { held: new Set<string>(), checked: new Set<string>() }
    try {
      const hasMet = (): boolean => seen.checked.has('outside') && seen.held.size > 0
      for (let round = 0; round < rounds || !hasMet(); round += 1) {
        const { status, stdout } = await sandbox.run('cat', ['where'], { cwd: 'work' })
        if (status === 'exited') seen.held.add(stdout)
        seen.checked.add(await catAtCheckedPath(() => files.openDirectory('work').close(), pair[0]))
      }
    } finally {
      await swapper.stop()
      files.close()
    }
    expect([...seen.held]).toEqual(['inside'])
    // The control: the same attacker succeeds against a check before the use.
    expect(seen.checked).toContain('outside')
  })
})

async function catAtCheckedPath(check: () => void, cwd: string): Promise<string> {
  try {
    check()
  } catch {
    return ''
  }
  const child = spawn('cat', ['where'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  child.on('error', () => {})
  // Caught at once: the path may be gone already, and nobody waits for this before the output has ended.
  const exited = once(child, 'close').catch(() => {})
  const output = await text(child.stdout)
  await exited
  return output
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxFiles } from '@smithers/sandbox'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

const program = join(import.meta.dirname, '../fixtures/programs/write-slowly.ts')

const temporaryNames = (root: string): string[] =>
  readdirSync(root).filter((name) => name.startsWith('.smithers-'))

/** A process that is writing `name`, and the temporary file that it writes to. */
async function startWriter(
  root: string,
  name: string,
): Promise<{ readonly child: ChildProcess; readonly temporary: string }> {
  const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const before = new Set(temporaryNames(root))
  const child = spawn(process.execPath, [...flags, program, root, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const [temporary] = temporaryNames(root).filter((each) => !before.has(each))
  return { child, temporary: temporary ?? '' }
}

async function killed({ child }: { readonly child: ChildProcess }): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test.runIf(process.platform === 'linux')(
  'the next write in the directory removes what a killed writer left, and nothing else',
  async () => {
    const { root } = createWorkspace({ 'sub/f': '', kept: 'old' })
    const dead = await startWriter(root, 'first')
    const alive = await startWriter(root, 'second')
    await killed(dead)
    expect(temporaryNames(root)).toHaveLength(2)

    // Names as they come from a shared volume, from before a restart, from an older version, and from another program.
    const [, random = '', boot = '', namespace = '', pid = ''] =
      /^\.smithers-([\w-]{16})-([0-9a-f]{16})-(\d+)-(\d+)\.tmp$/u.exec(dead.temporary) ?? []
    expect(pid).toBe(String(dead.child.pid))
    const others = [
      `.smithers-${random}-${'0'.repeat(16)}-${namespace}-${pid}.tmp`,
      `.smithers-${random}-${boot}-${Number(namespace) + 1}-${pid}.tmp`,
      `.smithers-${random}-${boot}-${namespace}-${process.pid}.tmp`,
      `.smithers-${random}-${boot}-${namespace}-0.tmp`,
      `.smithers-${random}.tmp`,
      `x${dead.temporary}`,
      `${dead.temporary}.txt`,
    ]
    for (const name of others) writeFileSync(join(root, name), '')
    // A link of such a name is only a name.
    const link = dead.temporary.replace(random, 'L'.repeat(16))
    symlinkSync('kept', join(root, link))
    const elsewhere = dead.temporary.replace(random, 'E'.repeat(16))
    writeFileSync(join(root, 'sub', elsewhere), '')

    const files = createSandboxFiles({ rootDir: root })
    onTestFinished(() => files.close())
    expect(readdirSync(root)).toContain(dead.temporary)
    await files.write('third', 'x')
    const names = readdirSync(root)
    expect(names).not.toContain(dead.temporary)
    expect(names).not.toContain(link)
    expect(names).toEqual(expect.arrayContaining([alive.temporary, ...others]))
    expect(readFileSync(join(root, 'kept'), 'utf8')).toBe('old')
    expect(readdirSync(join(root, 'sub'))).toContain(elsewhere)

    const ended = once(alive.child, 'exit')
    alive.child.stdin?.end()
    expect(await ended).toEqual([0, null])
    expect(readFileSync(join(root, 'second'), 'utf8')).toBe('begun, ended')
  },
)

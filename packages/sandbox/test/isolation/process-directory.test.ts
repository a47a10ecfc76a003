import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processSpace, startTimeOf } from '../../src/files/io/process-identity.ts'
import { ordinaryUser } from '../fixtures/ordinary-user.ts'
import { describeIsolations, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

const program = join(import.meta.dirname, '../fixtures/programs/leave-temporary-files.ts')

function start(temporary: string, isolation: unknown, how: 'end' | 'wait') {
  return spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      newRoot(),
      JSON.stringify(isolation),
      how,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    },
  )
}

const left = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.startsWith('smithers-process-'))

describeIsolations('the temporary directories of a process', (isolation, backend) => {
  test('are gone when it ends, and go with the next process when it was killed', async () => {
    const temporary = newRoot()
    const killed = start(temporary, isolation, 'wait')
    await once(killed.stdout, 'data')
    const before = left(temporary)
    // Without isolation commands have no directories of ours.
    expect(before).toHaveLength(backend === 'none' ? 0 : 1)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    // The control: nothing has removed them yet.
    expect(left(temporary)).toEqual(before)

    const next = start(temporary, isolation, 'end')
    next.stdout.resume()
    await once(next, 'exit')
    expect(left(temporary)).toEqual([])
    expect(existsSync('/etc/passwd')).toBe(true)
  })

  test('are left alone while their process lives, or when that cannot be known', async () => {
    const temporary = newRoot()
    const others = {
      'smithers-process-alive': `${processSpace()} ${process.pid} ${startTimeOf(process.pid)}`,
      'smithers-process-elsewhere': '0123456789abcdef-1 999999999 1',
      'smithers-process-unknown': null,
    }
    for (const [name, owner] of Object.entries(others)) {
      mkdirSync(join(temporary, name))
      if (owner !== null) writeFileSync(join(temporary, name, 'owner'), owner)
    }
    const next = start(temporary, isolation, 'end')
    next.stdout.resume()
    await once(next, 'exit')
    expect(left(temporary).toSorted()).toEqual(Object.keys(others).toSorted())
  })
})

const user = ordinaryUser()

// The superuser may remove everything: only for others is it a test.
describe('directories without the right to write', () => {
  beforeAll(() => user?.prepare())
  afterAll(() => user?.remove())

  test.each(['at the exit', 'in turns'])('are removed %s', async (when) => {
    const temporary = newRoot()
    chmodSync(temporary, 0o777)
    const source = join(user?.sources ?? join(import.meta.dirname, '../../src'), 'isolation')
    const script = `
      import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
      import { dirname } from 'node:path'
      import { discardTemporaryDirectory, makeTemporaryDirectory } from '${source}/process-directory.ts'
      const home = makeTemporaryDirectory('home')
      mkdirSync(home + '/go/pkg/mod/deep', { recursive: true })
      for (const name of ['/a', '/go/b', '/go/pkg/c', '/go/pkg/mod/d', '/go/pkg/mod/deep/e']) writeFileSync(home + name, 'x')
      for (const name of ['/go/pkg/mod/deep', '/go/pkg/mod', '/go/pkg', '/go']) chmodSync(home + name, 0o555)
      chmodSync(home + '/go/pkg/mod/deep', 0)
      let denied = ''
      try { rmSync(home + '/go/b') } catch (error) { denied = error.code }
      if ('${when}' === 'in turns') await discardTemporaryDirectory(home)
      process.stdout.write(denied + ' ' + readdirSync(dirname(home)).filter((name) => name !== 'owner').length)`
    const child = spawn(
      user?.node ?? process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script],
      {
        cwd: '/',
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { TMPDIR: temporary },
        ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
      },
    )
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(child, 'close')
    // Control: a plain removal is denied.
    expect(Buffer.concat(chunks).toString()).toBe(when === 'in turns' ? 'EACCES 0' : 'EACCES 1')
    expect(left(temporary)).toEqual([])
  })
})

describeIsolations('closing a sandbox', (isolation) => {
  test('lets the event loop turn while it removes what commands left', async () => {
    const sandbox = await newSandbox({ isolation })
    if (sandbox.report.enforced.files === 'none') return
    const fill = 'mkdir -p ~/.cache/many; cd ~/.cache/many; seq 20000 | xargs touch'
    expect(await sandbox.run('sh', ['-c', fill])).toMatchObject({ exitCode: 0, stderr: '' })
    const [home = ''] = homes()
    expect(readdirSync(home).length).toBe(20_000)
    void sandbox.close()
    // Under its name at once; its files in later turns.
    expect(existsSync(home)).toBe(false)
    expect(discarded()).not.toEqual([])
    await expect.poll(discarded).toEqual([])
  })
})

const ours = (): string[] =>
  left(tmpdir()).flatMap((name) => {
    const directory = join(tmpdir(), name)
    let owner = ''
    try {
      owner = readFileSync(join(directory, 'owner'), 'utf8')
    } catch {
      // Of another user, or just removed by its process.
    }
    const [space, id] = owner.split(' ')
    return space === processSpace() && Number(id) === process.pid
      ? readdirSync(directory).map((each) => join(directory, each))
      : []
  })

const homes = (): string[] =>
  ours()
    .flatMap((path) => ['whole', 'kept'].map((kind) => join(path, kind, '.cache/many')))
    .filter((path) => existsSync(path))

const discarded = (): string[] => ours().filter((path) => path.includes('/removing-'))

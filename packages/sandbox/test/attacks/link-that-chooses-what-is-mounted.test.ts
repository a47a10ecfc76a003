import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

describeConfined('a link on PATH', (confinement) => {
  /** Puts scripts and links into a new directory of the user's. */
  const tree = (files: Readonly<Record<string, string>>): string => {
    const base = confinement.directory()
    const { uid, gid } = statSync(base)
    for (const [name, contents] of Object.entries(files)) {
      const path = join(base, name)
      mkdirSync(dirname(path), { recursive: true })
      if (contents.startsWith('-> ')) symlinkSync(contents.slice(3).replace('BASE', base), path)
      else writeFileSync(path, contents)
      if (!contents.startsWith('-> ')) chmodSync(path, 0o755)
    }
    for (const name of ['', ...readdirSync(base, { recursive: true, encoding: 'utf8' })])
      lchownSync(join(base, name), uid, gid)
    return base
  }
  const withPath = async <Result>(
    directory: string,
    act: () => Promise<Result>,
  ): Promise<Result> => {
    const before = process.env['PATH']
    process.env['PATH'] = `${directory}:${before}`
    try {
      return await act()
    } finally {
      process.env['PATH'] = before
    }
  }
  const runTool = (base: string, bin: string, script = 'tool') =>
    withPath(join(base, bin), () =>
      confinement.commands({ rootDir: join(base, 'work'), isolation: 'require' }, [
        script.split(' '),
      ]),
    )

  test('starts the program of an installation elsewhere, with the libraries beside it', async () => {
    const base = tree({
      'bin/tool': '-> ../installs/tool-1.2/bin/tool',
      'installs/tool-1.2/bin/tool':
        '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/data"\n',
      'installs/tool-1.2/lib/data': 'works\n',
      'installs/tool-1.2/secret': 'secret\n',
      'work/a': '',
    })
    expect(await runTool(base, 'bin')).toMatchObject([{ status: 'exited', output: 'works\n' }])
    const secret = join(base, 'installs/tool-1.2/secret')
    const [seen] = await runTool(base, 'bin', `cat ${secret}`)
    expect(seen?.output).toMatch(/No such file|Permission denied/)
  })

  test('to a directory that may hold anything is an error that names files.read', async () => {
    const base = tree({
      'bin/tool': '-> ../documents/tool',
      'documents/tool': '#!/bin/sh\necho ran\n',
      'work/a': '',
    })
    const [result] = await runTool(base, 'bin')
    expect(result).toMatchObject({ status: 'spawn-error', code: 'TOOL_SPAWN_FAILED', output: '' })
    expect(result?.message).toContain('files.read')
  })

  test('shows nothing when a command could have made it: one in the root, or through the root', async () => {
    const base = tree({
      'work/node_modules/.bin': '-> ../../private',
      'bin/tool': '-> ../work/dist/tool',
      'work/dist/tool': '-> ../../private/bin/tool',
      'private/bin/tool': '#!/bin/sh\necho ran\n',
      'private/key': 'secret\n',
    })
    const key = join(base, 'private/key')
    const [direct] = await runTool(base, 'work/node_modules/.bin', `cat ${key}`)
    expect(direct?.output).toMatch(/No such file|Permission denied/)
    const [through] = await runTool(base, 'bin')
    expect(through).toMatchObject({ status: 'spawn-error', output: '' })
  })

  test('to a script whose interpreter is not there is a spawn error, not the exit code of a program', async () => {
    const base = tree({ 'work/tool': '#!/nonexistent/interpreter\n' })
    const [result] = await runTool(base, 'bin', './tool')
    expect(result).toMatchObject({ status: 'spawn-error', code: 'TOOL_SPAWN_FAILED' })
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

async function sampleLog(): Promise<string> {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, [{ seq: 1, toolName: 'read', input: { path: 'a.txt' }, finish: {} }])
  return path
}

/** What the opener found. */
interface OpenedPage {
  readonly page: string
  readonly html: string
  readonly mode: string
  readonly folderMode: string
  /** The arguments of every process of the machine. */
  readonly processes: string
}

/** Puts an opener on the PATH that writes down what it was given, and what every user of the machine can see meanwhile. */
function fakeOpener(folder: string, seen: string): { readonly PATH: string } {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const program = `#!${process.execPath}
const fs = require('node:fs')
const page = process.argv[2]
const argumentsOf = (id) => {
  try {
    return fs.readFileSync('/proc/' + id + '/cmdline', 'utf8').replaceAll('\\0', ' ')
  } catch {
    return ''
  }
}
const processes = fs.existsSync('/proc/self/cmdline')
  ? fs.readdirSync('/proc').filter((id) => /^[0-9]+$/.test(id)).map(argumentsOf).join('\\n')
  : require('node:child_process').execFileSync('/bin/ps', ['-axww', '-o', 'args'], { encoding: 'utf8' })
const modeOf = (path) => (fs.statSync(path).mode & 0o777).toString(8)
const html = fs.readFileSync(page, 'utf8')
const found = { page, html, mode: modeOf(page), folderMode: modeOf(require('node:path').dirname(page)), processes }
fs.writeFileSync(${JSON.stringify(`${seen}.part`)}, JSON.stringify(found))
fs.renameSync(${JSON.stringify(`${seen}.part`)}, ${JSON.stringify(seen)})
`
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(bin, name), program, { mode: 0o755 })
  }
  return { PATH: bin }
}

describe('smithers view', () => {
  test('serves the log under the address that it prints, and ends on Ctrl-C', async () => {
    const path = await sampleLog()
    const program = join(import.meta.dirname, '../src/smithers.ts')
    const args = ['--conditions=@smithers/source', program, 'view', '--log', path]
    const viewer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    try {
      const [line] = (await once(createInterface(viewer.stdout), 'line')) as [string]
      const { origin, hash } = new URL(line)
      const read = async (token: string): Promise<Response> =>
        await fetch(`${origin}/api/runs`, { headers: { Authorization: `Bearer ${token}` } })
      const answer = await read(hash.replace('#token=', ''))
      expect(await answer.json()).toMatchObject({ runs: [{ counts: { calls: 1 } }] })
      expect((await read('guessed')).status).toBe(401)
    } finally {
      viewer.kill('SIGINT')
    }
    const [, signal] = (await once(viewer, 'exit')) as [number | null, string | null]
    expect(signal).toBeNull()
  })

  test('--open gives the opener a private file that leads to the page, and no token to ps', async () => {
    const folder = temporaryFolder()
    const seen = join(folder, 'seen.json')
    const { PATH } = fakeOpener(folder, seen)
    const runtime = join(folder, 'runtime')
    mkdirSync(runtime)
    const viewer = startSmithers(['view', '--open', '--log', await sampleLog()], {
      env: { PATH, XDG_RUNTIME_DIR: runtime },
    })
    try {
      await expect.poll(() => existsSync(seen)).toBe(true)
      const opened = JSON.parse(readFileSync(seen, 'utf8')) as OpenedPage
      expect(opened.page.startsWith(join(runtime, 'smithers-view-'))).toBe(true)
      expect([opened.mode, opened.folderMode]).toEqual(['600', '700'])
      const [, address = ''] = /content="0; url=([^"]+)"/.exec(opened.html) ?? []
      const { origin, hash } = new URL(address)
      const token = hash.replace('#token=', '')
      const headers = { Authorization: `Bearer ${token}` }
      expect((await fetch(`${origin}/api/runs`, { headers })).status).toBe(200)
      expect(opened.processes).not.toContain(token)
      // The control: what a process is started with can be seen.
      expect(opened.processes).toContain(opened.page)
    } finally {
      viewer.kill('SIGINT')
    }
    const { stderr } = await viewer.outcome
    expect(stderr).not.toContain('No browser')
    expect(readdirSync(runtime)).toEqual([])
  })

  test('--open without an opener says so and serves on', async () => {
    const env = { PATH: temporaryFolder() }
    const viewer = startSmithers(['view', '--open', '--log', await sampleLog()], { env })
    const noted = once(
      createInterface(viewer.stderr).on('line', () => {}),
      'line',
    )
    const [line] = (await once(createInterface(viewer.stdout), 'line')) as [string]
    await noted
    expect((await fetch(new URL(line).origin)).status).toBe(200)
    viewer.kill('SIGINT')
    expect((await viewer.outcome).stderr).toMatch(/No browser could be opened \(.*ENOENT.*\)/)
  })

  test('--text prints the timeline of the newest run', async () => {
    const { exitCode, stdout } = await runSmithers(['view', '--text', '--log', await sampleLog()])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/1 call\n\n.*attempt 1\n +1 +read +a\.txt .*ok\n$/)
  })

  test.each([
    [['--follow'], /--follow goes with --text/],
    [['some-run'], /RUN goes with --text/],
    [['--text', '--open'], /--open goes without --text/],
    [['--host', '0.0.0.0'], /ssh -L/],
    [['--port', '70000'], /--port takes a number/],
  ])('refuses %j', async (args, message) => {
    const { exitCode, stderr } = await runSmithers(['view', '--log', await sampleLog(), ...args])
    expect(exitCode).not.toBe(0)
    expect(stderr).toMatch(message)
  })
})

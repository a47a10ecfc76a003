import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSandbox } from '@smithers/sandbox'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { guidePages } from './fixtures/guide-page.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const pages = guidePages()

/** A folder as a reader of a guide has it: the programs, the packages, and `npx smithers`. */
function readersFolder(): { folder: string; env: NodeJS.ProcessEnv } {
  const place = mkdtempSync(join(realpathSync(tmpdir()), 'guide-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const [folder, home, bin] = ['guide', 'home', 'bin'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [folder, home, bin]) mkdirSync(path)
  for (const path of globSync(here('../src/{.,guides}/*.ts')))
    copyFileSync(path, join(folder, basename(path)))
  symlinkSync(here('../node_modules'), join(folder, 'node_modules'))
  const cli = here('../../../packages/cli/src/smithers.ts')
  // Without isolation the sandbox warns; the output of a guide is the same.
  const options = '--conditions=@smithers/source --disable-warning=SMITHERS_NOT_ENFORCED'
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nNODE_OPTIONS='${options}' exec node '${cli}' "$@"\n`,
    { mode: 0o755 },
  )
  const env = {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    NODE_OPTIONS: options,
  }
  return { folder, env }
}

/** Times, durations, bars and spaces that show them, and ids of approvals differ from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:µs|ms|s)\b/g, 'N ms')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/apr_[0-9a-f-]{36}/g, 'apr_ID')
    .replaceAll(/│[█░ ]+│/g, '││')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ $/gm, '')
    .trim()
}

async function hasNetworks(): Promise<boolean> {
  try {
    const sandbox = await createSandbox({ rootDir: here('.'), network: { allow: [] } })
    await sandbox.close()
    return true
  } catch {
    return false
  }
}

describe.each(pages)('$name', ({ programs, shell }) => {
  test('prints what it says', async ({ skip }) => {
    if (shell.some(({ isolated }) => isolated) && !(await hasNetworks())) {
      skip('commands cannot have a network of their own here')
    }
    const { folder, env } = readersFolder()
    for (const { line, script, printed } of shell) {
      const ran = await execa('sh', ['-ec', script], {
        cwd: folder,
        env,
        extendEnv: false,
        reject: false,
      })
      expect(ran, `line ${line}`).toMatchObject({ exitCode: 0 })
      if (printed !== undefined) expect(steady(ran.stdout), `line ${line}`).toBe(steady(printed))
    }
  })

  test('runs every program that it shows', () => {
    const scripts = shell.map(({ script }) => script).join('\n')
    // A module is run by the programs that import it.
    const own = programs.filter((name) => name !== 'scripted-model.ts')
    expect(own.filter((name) => !scripts.includes(name))).toEqual([])
  })
})

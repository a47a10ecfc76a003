import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'
import { expect, onTestFinished, test } from 'vitest'

/** Runs a recipe as its reader would and returns the printed lines. */
function linesOf(name: string): string[] {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'recipe-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))
  const { exitCode, stdout, stderr } = execaSync(
    process.execPath,
    // Without isolation the sandbox warns; the output of a recipe is the same.
    ['--conditions=@smithers/source', '--disable-warning=SMITHERS_NOT_ENFORCED', file],
    {
      env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder },
      extendEnv: false,
      reject: false,
    },
  )
  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
  expect(readdirSync(folder)).toEqual([])
  return stdout.trimEnd().split('\n')
}

/** What the release rehearsal expects of it too. */
function expectedOf(name: string): string[] {
  return readFileSync(new URL(`expected/${name}.txt`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
}

test('only-the-sandbox confines files and commands', () => {
  expect(linesOf('only-the-sandbox')).toEqual(expectedOf('only-the-sandbox'))
})

test('swap-the-log records the same rows in either log', () => {
  expect(linesOf('swap-the-log')).toEqual(expectedOf('swap-the-log'))
})

test('own-bundle orders once in two attempts', () => {
  expect(linesOf('own-bundle')).toEqual(expectedOf('own-bundle'))
})

test('readme-example prints what the README says', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const printed = /It prints:\n\n```\n(.*?)\n```/s.exec(readme)?.[1]
  expect(linesOf('readme-example').join('\n')).toBe(printed)
})

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

test('only-the-sandbox confines files and commands', () => {
  expect(linesOf('only-the-sandbox')).toEqual([
    'buy milk',
    '',
    '../secret.txt: TOOL_PATH_ESCAPE',
    '/etc/hostname: TOOL_PATH_ESCAPE',
    'way-out/hostname: TOOL_PATH_ESCAPE',
    'exited 0: 1 notes/today.txt',
    '',
    'refused: TOOL_NETWORK_DISABLED',
    'TOOL_GIT_REMOTE_DISABLED: network',
  ])
})

test('swap-the-log records the same rows in either log', () => {
  expect(linesOf('swap-the-log')).toEqual(
    ['memory', 'sqlite'].flatMap((log) => [
      'Hello, Ada!',
      `${log}: 1 greet {"name":"Ada"} success`,
      `${log}: 2 greet {"name":""} error`,
    ]),
  )
})

test('own-bundle orders once in two attempts', () => {
  expect(linesOf('own-bundle')).toEqual([
    "[ 'read', 'grep', 'shop_place_order' ]",
    'Done.',
    'Done.',
    "[ 'milk-1l' ]",
    '1.1 read success',
    '1.2 shop.place_order success',
    '2.1 read success',
    '2.2 shop.place_order success',
  ])
})

test('readme-example prints what the README says', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const printed = /It prints:\n\n```\n(.*?)\n```/s.exec(readme)?.[1]
  expect(linesOf('readme-example').join('\n')).toBe(printed)
})

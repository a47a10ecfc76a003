import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { errorCodes } from '../../../packages/cli/src/errors/error-codes.ts'
import { built, builtPages, output } from './fixtures/site-output.ts'

test('every error code has a page with when, what to do and an example', () => {
  const lacking = Object.keys(errorCodes).filter((code) => {
    const path = `errors/${code.toLowerCase()}.md`
    if (!existsSync(join(output, path))) return true
    return !/## When\n[^]*## What to do\n[^]*## Examples\n[^]*```text\n/u.test(built(path))
  })
  expect(lacking).toEqual([])
})

test('every page is there as Markdown', () => {
  const lacking = builtPages().filter(
    (path) => path !== '' && !existsSync(join(output, `${path.replace(/\/$/u, '')}.md`)),
  )
  expect(lacking).toEqual([])
})

test('no page loads anything from another host', () => {
  const loads = /<(?:script|link|img|iframe)[^>]+(?:src|href)="https?:[^"]*"/gu
  const foreign = builtPages().flatMap((path) =>
    (built(`${path}index.html`).match(loads) ?? [])
      // The address of the page itself and of its site map, which no browser loads.
      .filter((tag) => !/rel="(?:canonical|sitemap|alternate)"/u.test(tag))
      .map((tag) => `${path}: ${tag}`),
  )
  expect(foreign).toEqual([])
})

test('programs find the site in one text', () => {
  expect(built('llms.txt')).toContain('llms-full.txt')
  expect(built('llms-small.txt')).toContain('createToolRun')
  expect(built('llms-full.txt')).toContain('# Command line')
})

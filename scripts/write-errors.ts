/**
 * Writes docs/errors.md: each error code with when it occurs, what to do, and an example. With `--check` it compares only,
 * all but the examples.
 * The table itself cannot miss a code: its type names them all.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { execa } from 'execa'
import { errorCodes } from '../packages/cli/src/errors/error-codes.ts'
import { errorPage } from './errors/error-pages.ts'
import { recordedFailures } from './errors/recorded-failures.ts'
import { thrownMessages } from './errors/thrown-messages.ts'

const path = 'docs/errors.md'

const page = errorPage({
  codes: errorCodes,
  failures: recordedFailures(readFileSync('docs/failures.md', 'utf8')),
  thrown: thrownMessages(new Set(Object.keys(errorCodes))),
})
const { stdout } = await execa('oxfmt', ['--stdin-filepath', path], { input: page })
const formatted = `${stdout}\n`
if (!process.argv.includes('--check')) writeFileSync(path, formatted)
else if (entries(readFileSync(path, 'utf8')) !== entries(formatted)) {
  console.error(`${path} is not what the code says. Run "pnpm docs:errors".`)
  process.exitCode = 1
}

function entries(text: string): string {
  return text
    .split('\n')
    .filter((line) => /^(?:## |\*\*)/u.test(line))
    .join('\n')
}

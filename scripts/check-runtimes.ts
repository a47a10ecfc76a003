/**
 * Runs an app that uses the packages, from their tarballs, on every runtime, in every bundler and under every compiler
 * that they support. Prints the table of docs/runtimes.md; `--write` puts it there. Names of rows, or how they begin,
 * select: `pnpm check:runtimes next bun`.
 *
 * Needs `pnpm build` first. Everything but the packages themselves comes from the npm registry.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackages } from './packed-packages.ts'
import { bundlerRows } from './runtimes/bundler-rows.ts'
import { nodeRows } from './runtimes/node-rows.ts'
import { otherRuntimeRows } from './runtimes/other-runtime-rows.ts'
import type { Row } from './runtimes/row.ts'
import { typescriptRows } from './runtimes/typescript-rows.ts'
import { Workshop } from './runtimes/workshop.ts'
import { writeTable } from './write-table.ts'

const rows = [...nodeRows, ...otherRuntimeRows, ...bundlerRows, ...typescriptRows]
const words = process.argv.slice(2)
const names = words.filter((word) => word !== '--write')
const isWriting = words.includes('--write')
const isSelected = ({ name }: Row): boolean =>
  names.length === 0 || names.some((word) => name.startsWith(word))
const unknown = names.filter((word) => !rows.some(({ name }) => name.startsWith(word)))
if (unknown.length > 0) {
  throw new Error(
    `no row begins with ${unknown.join(', ')}: ${rows.map((row) => row.name).join(', ')}`,
  )
}
if (isWriting && names.length > 0) throw new Error('--write needs all rows: name none')

const directory = mkdtempSync(join(tmpdir(), 'smithers-runtimes-'))
const lines = ['| runtime | result | in the app | row |', '|---|---|---|---|']
let failed = 0
try {
  const workshop = new Workshop(directory, await packPackages(join(directory, 'tarballs')))
  for (const row of rows.filter(isSelected)) {
    const startedAt = performance.now()
    try {
      const { what, result } = await row.check(workshop)
      lines.push(`| ${what} | ${result} | \`${row.command}\` | \`${row.name}\` |`)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      console.log(`${row.name}: ${what}: ${result} (${seconds} s)`)
    } catch (error) {
      failed += 1
      lines.push(`| ${row.name} | **fails** | \`${row.command}\` | \`${row.name}\` |`)
      console.error(
        `${row.name}: FAILED\n${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

const table = lines.join('\n')
console.log(`\n${table}`)
if (failed > 0) process.exitCode = 1
else if (isWriting) writeTable('docs/runtimes.md', 'runtimes', table)

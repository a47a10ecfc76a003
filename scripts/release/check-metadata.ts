/**
 * Keeps the fields that all published packages share as the root `package.json` says, their licence as the root's, and
 * the links of their READMEs right where the repository is not at hand: `--write` repairs all three. Fails on a link to
 * a file that the repository lacks, and on `publishConfig` that differs from what this repository uses.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Fields, publishedDirectories, withMetadata } from './package-metadata.ts'
import { exists, relativeLinks, repositoryLinks, withAbsoluteLinks } from './readme-links.ts'

const isWriting = process.argv.includes('--write')
const failures: string[] = []
const repair = 'pnpm check:metadata --write repairs it'

for (const directory of publishedDirectories()) {
  checkFields(directory)
  checkLicence(directory)
  checkLinks(directory)
}
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1

function checkFields(directory: string): void {
  const file = join(directory, 'package.json')
  const fields = JSON.parse(readFileSync(file, 'utf8')) as Fields
  const wanted = withMetadata(fields, directory)
  if (isWriting) writeFileSync(file, `${JSON.stringify(wanted, null, 2)}\n`)
  else {
    for (const [field, value] of Object.entries(wanted)) {
      if (isDeepStrictEqual(fields[field], value)) continue
      failures.push(`${file}: "${field}" is not what the root package.json decides; ${repair}.`)
    }
  }
  const { exports, bin, publishConfig } = fields as {
    readonly exports: Readonly<Record<string, unknown>>
    readonly bin?: Readonly<Record<string, string>>
    readonly publishConfig: Fields
  }
  if (!isDeepStrictEqual(publishConfig['exports'], published(exports))) {
    failures.push(`${file}: "publishConfig.exports" is not "exports" without the sources.`)
  }
  if (!isDeepStrictEqual(publishConfig['bin'], publishedPrograms(bin))) {
    failures.push(`${file}: "publishConfig.bin" is not "bin" with the built programs.`)
  }
}

/** The exports as users get them. An entry of nothing but sources is for this repository. */
function published(exports: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, target]): [string, unknown][] => {
      if (typeof target !== 'object' || target === null) return [[entry, target]]
      const { '@smithers/source': _source, ...rest } = target as Fields
      return Object.keys(rest).length === 0 ? [] : [[entry, rest]]
    }),
  )
}

function publishedPrograms(
  programs: Readonly<Record<string, string>> | undefined,
): Fields | undefined {
  if (programs === undefined) return undefined
  return Object.fromEntries(
    Object.entries(programs).map(([name, path]) => [
      name,
      path.replace('./src/', './dist/').replace(/\.ts$/, '.js'),
    ]),
  )
}

function checkLicence(directory: string): void {
  const file = join(directory, 'LICENSE')
  if (isWriting) copyFileSync('LICENSE', file)
  else if (readFileSync(file, 'utf8') !== readFileSync('LICENSE', 'utf8')) {
    failures.push(`${file} is not the LICENSE of the repository; ${repair}.`)
  }
}

function checkLinks(directory: string): void {
  const file = join(directory, 'README.md')
  const before = readFileSync(file, 'utf8')
  const text = isWriting ? withAbsoluteLinks(before, directory) : before
  if (text !== before) writeFileSync(file, text)
  for (const target of relativeLinks(text)) {
    failures.push(`${file}: the link ${target} is dead in the published package; ${repair}.`)
  }
  for (const link of repositoryLinks(text)) {
    if (!exists(link)) {
      failures.push(`${file}: ${link.target} leads to ${link.path}, which does not exist.`)
    }
  }
}

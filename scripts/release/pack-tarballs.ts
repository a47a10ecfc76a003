/**
 * `pnpm tarballs FOLDER PACKAGE…` packs packages and those of this repository beneath them into a folder of another
 * project, which installs them from there: every `*.tgz` at once with npm. pnpm looks for the siblings in the registry
 * unless the `pnpm-workspace.yaml` of the folder, moved to the project, says where they are.
 *
 * Needs `pnpm build` first.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { packPackages, withSiblings } from '../packed-packages.ts'

const [folder, ...wanted] = process.argv.slice(2)
if (folder === undefined || wanted.length === 0) {
  throw new Error(
    'name a folder and packages: pnpm tarballs ../my-agent/smithers builtin-tools log-sqlite',
  )
}
const names = [...withSiblings(wanted.map((name) => `@smithers/${name}`))].toSorted()
const temporary = mkdtempSync(join(tmpdir(), 'smithers-tarballs-'))
try {
  const packed = await packPackages(temporary, names)
  mkdirSync(folder, { recursive: true })
  const overrides = [...packed].map(([name, { tarball }]) => {
    const file = `${basename(name)}.tgz`
    copyFileSync(tarball, join(folder, file))
    return `  '${name}': file:${basename(resolve(folder))}/${file}`
  })
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `overrides:\n${overrides.join('\n')}\n`)
  console.log(names.join('\n'))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

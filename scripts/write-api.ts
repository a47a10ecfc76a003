/**
 * Writes the reference of every entry point of every package into `apps/docs/api`, from its types, and a page with every
 * option. Fails when an exported name has no comment, or when a link in a comment leads nowhere.
 *
 * One program reads all entry points: it takes seconds, where one program for each package takes minutes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application, type DeclarationReflection } from 'typedoc'
import { type EntryPoint, entryPoints } from './api/entry-points.ts'
import { optionTables } from './api/option-tables.ts'

const out = 'apps/docs/api'

const entries = entryPoints()
const application = await Application.bootstrapWithPlugins({
  entryPoints: entries.map(({ source }) => source),
})
const project = await application.convert()
if (project === undefined) throw new Error('TypeDoc could not read the entry points.')
application.validate(project)
// A module has the name of its file. Readers know it by what they import.
for (const module of project.children ?? []) module.name = specifierOf(module, entries)

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
await application.generateOutputs(project)
writeFileSync(join(out, 'options.md'), optionTables(project))
if (application.logger.hasErrors() || application.logger.hasWarnings()) process.exitCode = 1

function specifierOf(module: DeclarationReflection, all: readonly EntryPoint[]): string {
  const name = `packages/${module.name}`
  const entry = all.find(({ source }) => [`${name}.ts`, `${name}/index.ts`].includes(source))
  if (entry === undefined) throw new Error(`No package exports the module ${module.name}.`)
  return entry.specifier
}

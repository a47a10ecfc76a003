import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf } from '../packed-packages.ts'
import type { Row } from './row.ts'
import type { Workshop } from './workshop.ts'

const strict = {
  target: 'es2024',
  types: ['node'],
  jsx: 'react-jsx',
  jsxImportSource: '@smithers/workflow',
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  noEmit: true,
}
const own = { ...strict, lib: ['es2024'], exactOptionalPropertyTypes: true }
const sources = ['tools.ts', 'workflow.tsx', 'entries.ts']

/** Without `skipLibCheck`. In node16 an ES module cannot be required; from nodenext on it can. */
const configurations = {
  node16: { ...own, module: 'node16', files: sources },
  nodenext: { ...own, module: 'nodenext', files: [...sources, 'required.cts'] },
  bundler: { ...own, module: 'esnext', moduleResolution: 'bundler', files: sources },
  // The declarations of `ai` name types of the DOM, and do not pass with exactOptionalPropertyTypes.
  agent: { ...strict, lib: ['es2024', 'dom'], module: 'nodenext', files: ['agent.ts'] },
} as const

function rowOf(name: string): Row {
  const tsc = `node_modules/${name}/bin/tsc`
  return {
    name,
    command: `for each in ${Object.keys(configurations).join(' ')}; do tsc -p tsconfig.$each.json; done`,
    async check(workshop) {
      await writeSources(workshop)
      await Promise.all(
        Object.keys(configurations).map((each) =>
          workshop.run({ app: 'types', command: ['node', tsc, '-p', `tsconfig.${each}.json`] }),
        ),
      )
      const printed = await workshop.run({ app: 'types', command: ['node', tsc, '--version'] })
      const version = printed.trim().replace('Version ', '')
      return {
        what: `TypeScript ${version}`,
        result:
          'strict modes without `skipLibCheck`: node16, nodenext, bundler, and an agent of the AI SDK',
      }
    },
  }
}

/** A program that imports the declarations of every entry, and the configurations. */
async function writeSources(workshop: Workshop): Promise<void> {
  const project = await workshop.app('types')
  const entries = [...workshop.packed.values()].flatMap(({ manifest }) => entriesOf(manifest))
  const lines = entries.map((entry, index) => `export * as entry${index} from '${entry}'`)
  writeFileSync(join(project, 'entries.ts'), `${lines.join('\n')}\n`)
  for (const [name, { files, ...options }] of Object.entries(configurations)) {
    const config = { compilerOptions: { ...strict, ...options }, files }
    writeFileSync(join(project, `tsconfig.${name}.json`), JSON.stringify(config))
  }
}

/** Compilers that take the declarations of the packages. */
export const typescriptRows: readonly Row[] = [
  rowOf('typescript-5.9'),
  rowOf('typescript-6'),
  rowOf('typescript-7'),
]

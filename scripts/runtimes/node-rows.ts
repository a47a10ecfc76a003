import { entriesOf } from '../packed-packages.ts'
import { assertExpected } from './expected-output.ts'
import type { Row } from './row.ts'
import type { Workshop } from './workshop.ts'

const nodeRow = (major: number): Row => ({
  name: `node-${major}`,
  command: 'node main.mjs',
  async check(workshop) {
    const run = (...args: string[]): Promise<string> =>
      workshop.run({ app: 'plain', node: major, command: ['node', ...args] })
    await assertExpected(workshop, 'main.mjs', await run('main.mjs'))
    await assertExpected(workshop, 'without-sandbox.mjs', await run('without-sandbox.mjs'))
    const entries = allEntries(workshop)
    await run(
      '--input-type=module',
      '-e',
      entries.map((entry) => `await import('${entry}')`).join('\n'),
    )
    return {
      what: `Node ${(await run('--version')).slice(1)}`,
      result: `works; all ${entries.length} entries import`,
    }
  },
})

const commonJs = (major: number): Row => ({
  name: `commonjs-${major}`,
  command: 'node main.cjs',
  async check(workshop) {
    const run = (...args: string[]): Promise<string> =>
      workshop.run({ app: 'plain', node: major, command: ['node', ...args] })
    await assertExpected(workshop, 'main.mjs', await run('main.cjs'))
    const entries = allEntries(workshop)
    await run(
      '--input-type=commonjs',
      '-e',
      entries.map((entry) => `require('${entry}')`).join('\n'),
    )
    return {
      what: `CommonJS on Node ${(await run('--version')).slice(1)}`,
      result: `works by \`require\`; so do all ${entries.length} entries`,
    }
  },
})

function allEntries({ packed }: Workshop): string[] {
  return [...packed.values()].flatMap(({ manifest }) => entriesOf(manifest))
}

/** The supported versions of Node, by `import` and by `require`. */
export const nodeRows: readonly Row[] = [
  nodeRow(22),
  nodeRow(24),
  nodeRow(26),
  commonJs(22),
  commonJs(24),
]

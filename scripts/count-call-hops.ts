/**
 * Counts how far one call travels through the source: `pnpm hops` prints, for a tool that does nothing, for `read` and
 * for `bash echo`, the files that the call runs code in, the functions that it enters, and how often one function is
 * entered in another file than the function before it. `pnpm hops bash` prints the order of files as well.
 *
 * Every function under a package's `src` reports its file when it is entered; the sources are changed as they are loaded.
 * Resuming a generator or an async function is no entry. The second call of each tool counts, so that what is loaded or
 * prepared once is not part of it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const sources = /^packages\/[^/]+\/src\/.*\.tsx?$/

const shared = globalThis as { enteredFunction?: (file: string) => void }
let entries: string[] | undefined
shared.enteredFunction = (file) => void entries?.push(file)

registerHooks({
  load(url, context, nextLoad) {
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : ''
    if (!sources.test(file)) return nextLoad(url, context)
    const text = readFileSync(fileURLToPath(url), 'utf8')
    return { format: 'module-typescript', source: reporting(file, text), shortCircuit: true }
  },
})

/** The source with a report at the beginning of each function. */
function reporting(file: string, text: string): string {
  const report = `globalThis.enteredFunction(${JSON.stringify(file.replace('packages/', ''))})`
  const inserted: { at: number; text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const { body } = node
      if (ts.isBlock(body)) inserted.push({ at: body.getStart(parsed) + 1, text: `${report};` })
      else {
        inserted.push({ at: body.getStart(parsed), text: `(${report}, ` })
        inserted.push({ at: body.end, text: ')' })
      }
    }
    ts.forEachChild(node, visit)
  }
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  visit(parsed)
  // From the end, so that earlier positions stay true.
  return inserted
    .toSorted((a, b) => b.at - a.at)
    .reduce((done, each) => done.slice(0, each.at) + each.text + done.slice(each.at), text)
}

interface Tool {
  readonly execute: (args: unknown, options: object) => Promise<unknown>
}

async function journeyOf(name: string, tool: Tool, args: unknown): Promise<readonly string[]> {
  await tool.execute(args, { toolCallId: `${name}-1`, messages: [] })
  entries = []
  await tool.execute(args, { toolCallId: `${name}-2`, messages: [] })
  const journey = entries
  entries = undefined
  return journey
}

const { createToolRun, defineTool } = await import('../packages/tool-core/src/index.ts')
const { tools } = await import('../packages/builtin-tools/src/index.ts')
const { z } = createRequire(join(root, 'packages/tool-core/package.json'))('zod') as {
  readonly z: { object(shape: object): Parameters<typeof defineTool>[0]['schema'] }
}
const rootDir = mkdtempSync(join(tmpdir(), 'hops-'))
const run = createToolRun({ runId: 'hops', rootDir })
const nothing = defineTool({ name: 'nothing', schema: z.object({}), execute: () => 'done' })
const bound = run.tools({ ...tools, nothing }) as unknown as Readonly<Record<string, Tool>>
const jobs: readonly (readonly [name: string, args: object])[] = [
  ['nothing', {}],
  ['read', { path: 'a.txt' }],
  ['bash', { cmd: 'echo', args: ['hello'] }],
]
const [detailed] = process.argv.slice(2)
try {
  await bound['write']?.execute({ path: 'a.txt', content: 'a' }, { toolCallId: 'w', messages: [] })
  console.log(
    'call'.padEnd(8),
    'files'.padStart(6),
    'changes'.padStart(8),
    'functions'.padStart(10),
  )
  for (const [name, args] of jobs) {
    const tool = bound[name]
    if (tool === undefined) continue
    const journey = await journeyOf(name, tool, args)
    const changes = journey.filter((file, index) => index > 0 && journey[index - 1] !== file)
    const columns = [
      String(new Set(journey).size).padStart(6),
      String(changes.length).padStart(8),
      String(journey.length).padStart(10),
    ]
    console.log(name.padEnd(8), ...columns)
    if (detailed !== name) continue
    const order = journey.filter((file, index) => index === 0 || journey[index - 1] !== file)
    console.log(order.map((file) => `  ${file}`).join('\n'))
  }
} finally {
  rmSync(rootDir, { recursive: true })
}

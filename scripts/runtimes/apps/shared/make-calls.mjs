import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes real calls of the tools with the packages that the app has imported, and returns what they gave, a line each.
 * The last line is what a command was confined by.
 */
export async function makeCalls({
  createBuiltinTools,
  createSqliteLog,
  createToolRun,
  defineTool,
  isSmithersError,
  z,
}) {
  const folder = await mkdtemp(join(tmpdir(), 'smithers-runtime-'))
  try {
    const rootDir = join(folder, 'project')
    await mkdir(rootDir)
    await writeFile(join(rootDir, 'notes.txt'), 'buy milk\n')
    const log = createSqliteLog({ path: join(folder, 'calls.db') })
    const run = createToolRun({ runId: 'check', nodeId: 'calls', rootDir, log })
    let enforced
    const bundle = createBuiltinTools({
      onCommand: ({ result }) => {
        enforced = result.enforced
      },
    })
    const greet = defineTool({
      name: 'greet',
      schema: z.object({ name: z.string() }),
      sideEffect: true,
      idempotent: false,
      execute: async ({ name }, ctx) => `hello ${name}, key ${ctx.idempotencyKey}`,
    })
    const tools = run.tools({ ...bundle, greet })
    let calls = 0
    const lines = []
    const call = async (name, input) => {
      try {
        const options = { toolCallId: `call-${++calls}`, messages: [] }
        const output = await tools[name].execute(input, options)
        lines.push(`${name}: ${JSON.stringify(output)}`)
      } catch (error) {
        if (!isSmithersError(error)) throw error
        lines.push(`${name}: ${error.code}`)
      }
    }
    await call('read', { path: 'notes.txt' })
    await call('grep', { pattern: 'm.lk' })
    await call('write', { path: 'src/a.txt', content: 'one\n' })
    await call('bash', {
      command: 'cat notes.txt src/a.txt; echo problem >&2; echo more > src/b.txt',
    })
    await call('read', { path: 'src/b.txt' })
    await call('bash', { cmd: 'sh', args: ['-c', 'head -c 100000 /dev/zero | wc -c'] })
    await call('read', { path: '../calls.db' })
    await call('greet', { name: 'Ada' })
    for (const row of await log.list({ runId: 'check' })) {
      lines.push(`${row.seq} ${row.toolName} ${row.status} ${row.effect}`)
    }
    await log.close()
    lines.push(`files ${enforced.files}, network ${enforced.network}, by ${enforced.backend}`)
    return lines
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Writes the input of each built-in tool into its page in docs/tools, from the schema that its calls are checked with. With
 * `--check` it compares only.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { execa } from 'execa'
import { codingTools } from '../packages/builtin-tools/src/index.ts'
import { inputTable, type InputSchema } from './tools/input-table.ts'

/** What this program needs of a schema of Zod 4. */
interface ZodSchema {
  readonly toJSONSchema: (options: { readonly io: 'input' }) => InputSchema
}

const isCheck = process.argv.includes('--check')
for (const [name, tool] of Object.entries(codingTools)) {
  const path = `docs/tools/${name}.md`
  const before = readFileSync(path, 'utf8')
  const schema = (tool.inputSchema as ZodSchema).toJSONSchema({ io: 'input' })
  const page = before.replace(
    /(<!-- input: begin -->).*(<!-- input: end -->)/su,
    (_, begin: string, end: string) => `${begin}\n\n${inputTable(schema)}\n\n${end}`,
  )
  const { stdout } = await execa('oxfmt', ['--stdin-filepath', path], { input: page })
  const formatted = `${stdout}\n`
  if (formatted === before) continue
  if (!isCheck) writeFileSync(path, formatted)
  else {
    console.error(`${path} does not have the input of the tool. Run "pnpm docs:tools".`)
    process.exitCode = 1
  }
}

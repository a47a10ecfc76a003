import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codingTools, createBuiltinTools, type GlobInput } from '@smithers/builtin-tools'
import { getDefinedToolMetadata, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { modelReads } from '../fixtures/model-reads.ts'

const call = { toolCallId: 'call-1', messages: [] }
const contents = {
  '.gitignore': 'build/\n*.log\n',
  '.github/workflows/ci.yml': '',
  'a.ts': '',
  'b.log': '',
  'build/out.ts': '',
  'src/b.ts': '',
  'src/deep/c.ts': '',
  'src/deep/d.md': '',
}

function createTask(files: Readonly<Record<string, string>> = contents, tool = codingTools.glob) {
  const task = createFileTask(files, { isolation: 'none' })
  const find = (input: GlobInput): PromiseLike<string> =>
    runWithToolContext(task.context, () => tool.execute(input, call))
  const shown = async (input: GlobInput) => {
    const output = await find(input)
    return modelReads(tool, { toolCallId: 'call-1', input, output })
  }
  return { ...task, find, shown }
}

describe('glob', () => {
  it('has no side effect', () => {
    expect(getDefinedToolMetadata(codingTools.glob)).toEqual({
      name: 'glob',
      sideEffect: false,
      idempotent: true,
    })
  })

  it.each<[GlobInput, string]>([
    [{ pattern: '*.ts' }, 'a.ts\n'],
    [{ pattern: '**/*.ts' }, 'a.ts\nsrc/b.ts\nsrc/deep/c.ts\n'],
    [{ pattern: './**/*.{ts,md}', path: 'src' }, 'src/b.ts\nsrc/deep/c.ts\nsrc/deep/d.md\n'],
    [{ pattern: '*' }, 'a.ts\nsrc/\n'],
    [{ pattern: '*', path: 'src' }, 'src/b.ts\nsrc/deep/\n'],
    [{ pattern: '**/' }, 'src/\nsrc/deep/\n'],
    [{ pattern: 'src/**' }, 'src/\nsrc/b.ts\nsrc/deep/\nsrc/deep/c.ts\nsrc/deep/d.md\n'],
    [{ pattern: '.github/**/*.yml' }, '.github/workflows/ci.yml\n'],
    [{ pattern: '*', hidden: true }, '.github/\n.gitignore\na.ts\nsrc/\n'],
    [{ pattern: 'build/*' }, ''],
  ])('finds %j', async (input, found) => {
    expect(await createTask().find(input)).toBe(found)
  })

  it('stops at the limit and says how many more there are', async () => {
    const task = createTask()
    expect(await task.find({ pattern: '**/*.ts', limit: 2 })).toBe(
      'a.ts\nsrc/b.ts\n[1 more. Narrow the pattern or the path, or raise limit.]\n',
    )
  })

  it('tells the model what an empty result means', async () => {
    const task = createTask()
    expect(await task.shown({ pattern: '*.py' })).toBe(
      'No path below "." matches "*.py" (4 files seen; ignored files skipped).',
    )
    expect(await task.shown({ pattern: 'c.ts' })).toContain('1 would match "**/c.ts".')
  })

  it('hides denied files, and what links lead to', async () => {
    const { glob } = createBuiltinTools({ only: ['glob'], files: { deny: ['src/deep'] } })
    const task = createTask(contents, glob)
    const outside = createTask({ 'secret.ts': '' })
    symlinkSync(outside.root, join(task.root, 'link'))
    symlinkSync(join(outside.root, 'secret.ts'), join(task.root, 'link.ts'))
    expect(await task.find({ pattern: '**/*.ts' })).toBe('a.ts\nsrc/b.ts\n')
    await expect(task.find({ pattern: '*', path: 'link' })).rejects.toThrow(
      code('TOOL_PATH_ESCAPE'),
    )
  })

  it('shows nothing of a directory that is exchanged for a link out of the root', async () => {
    const task = createTask({ 'in/a.ts': '', 'b.ts': '' })
    const outside = createTask({ 'a.ts': '', 'secret.ts': '' })
    renameSync(join(task.root, 'in'), join(task.root, 'was'))
    symlinkSync(outside.root, join(task.root, 'in'))
    expect(await task.find({ pattern: 'in/*.ts' })).toBe('')
    expect(await task.find({ pattern: 'was/*.ts' })).toBe('was/a.ts\n')
  })

  it('refuses a file as the directory, and a path outside', async () => {
    const task = createTask()
    await expect(task.find({ pattern: '*', path: 'a.ts' })).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    await expect(task.find({ pattern: '*', path: '..' })).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.find({ pattern: '{a,b}'.repeat(7) })).rejects.toThrow(code('INVALID_INPUT'))
  })

  it('shows names with newlines and colons as they are', async () => {
    const task = createTask({ 'a:1:b': '', 'x\ny': '' })
    mkdirSync(join(task.root, 'd'))
    writeFileSync(join(task.root, 'd/z'), '')
    expect(await task.find({ pattern: '**' })).toBe('a:1:b\nd/\nd/z\nx\ny\n')
  })
})

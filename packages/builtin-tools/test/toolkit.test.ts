import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BuiltinToolsOptions,
  codingTools,
  createBuiltinTools,
  tools,
} from '@smithers/builtin-tools'
import { createToolContext, createToolRun, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { createFileTask } from './fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }

/** What each tool is asked in these tests. */
const inputs = {
  read: { path: 'a' },
  write: { path: 'a', content: 'x' },
  edit: { path: 'a', patch: '@@ -1 +1 @@\n-x\n+y\n' },
  grep: { pattern: 'x' },
  bash: { cmd: 'true' },
} as const
type Name = keyof typeof inputs
const names = Object.keys(inputs) as Name[]

const failureOf = (name: Name, bundle = tools): Promise<unknown> =>
  (bundle[name].execute as (input: object, options: typeof call) => Promise<string>)(
    inputs[name],
    call,
  ).catch((error: unknown) => error)

describe('createBuiltinTools', () => {
  test.each<[object, string]>([
    [
      { onyl: ['read'] },
      'Unknown option "onyl". Did you mean only? The options are only, rootDir,',
    ],
    [
      { only: ['reed'] },
      "only[0] is \"reed\". Pass 'read' or 'write' or 'edit' or 'grep' or 'bash' or 'replace' or 'glob'.",
    ],
    [{ only: ['toString'] }, 'only[0] is "toString".'],
    [{ only: 'read' }, 'only is "read". Pass an array.'],
    [{ isolation: 'required' }, 'isolation is "required".'],
    [{ limits: { timeoutMs: -5 } }, 'limits.timeoutMs is -5. Pass a whole number of milliseconds'],
    [{ timeoutMs: 5 }, 'Unknown option "timeoutMs". Did you mean limits.timeoutMs?'],
    [{ deny: ['.env'] }, 'Unknown option "deny". Did you mean files.deny?'],
    [{ files: { denied: ['.env'] } }, 'Unknown option "files.denied". Did you mean files.deny?'],
    [{ files: { deny: '**' } }, 'files.deny is "**". Pass an array.'],
    [{ env: { set: { A: 1 } } }, 'env.set["A"] is 1, not a string.'],
    [{ rootDir: '' }, 'rootDir is "". Pass a non-empty string'],
    [{ onCommand: true }, 'onCommand is true. Pass a function.'],
    [{ warn: 'no' }, 'warn is "no". Pass a function.'],
    [[], 'The options argument is an array. Pass a plain object.'],
  ])('refuses %j at once', (options, message) => {
    expect(() => createBuiltinTools(options as BuiltinToolsOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining(message) }),
    )
  })

  test("keeps its options when the caller's object changes", async () => {
    const { context } = createFileTask({ '.env': 'secret', a: 'x' })
    const options = { isolation: 'none' as const, files: { deny: ['.env'] } }
    const { read } = createBuiltinTools(options)
    options.files.deny.length = 0
    const reading = runWithToolContext(context, () => read.execute({ path: '.env' }, call))
    await expect(reading).rejects.toMatchObject({ code: 'TOOL_PATH_DENIED' })
  })
})

describe('codingTools', () => {
  test('adds replace and glob to the five, which stay the default', () => {
    const five = ['bash', 'edit', 'grep', 'read', 'write']
    expect(Object.keys(tools).toSorted()).toEqual(five)
    expect(Object.keys(createBuiltinTools()).toSorted()).toEqual(five)
    expect(Object.keys(codingTools).toSorted()).toEqual([...five, 'glob', 'replace'].toSorted())
    expect(Object.keys(createBuiltinTools({ only: ['glob', 'read'] }))).toEqual(['glob', 'read'])
  })
})

describe('a root that is missing', () => {
  test.each(names)(
    'makes %s fail with one message, without its path, and ends the run',
    async (name) => {
      const { root } = createFileTask()
      const rootDir = join(root, 'nonexistent')
      const run = createToolRun({ rootDir, isolation: 'none' })
      const failure = await run.with(() => failureOf(name))
      expect(failure).toMatchObject({
        code: 'INVALID_INPUT',
        effect: 'none',
        message:
          'The root directory of the tools does not exist, so none of them can work. The program that started this run must create it or pass another rootDir.',
      })
      expect(run.fatal).toBe(failure)
      expect(run.abortSignal.aborted).toBe(true)
      await expect(run.settle('done')).rejects.toBe(failure)
    },
  )

  test.each(names)('is reported by %s of a bundle with its own root', async (name) => {
    const { root } = createFileTask({ file: '' })
    for (const [path, problem] of [
      ['nonexistent', 'does not exist'],
      ['file', 'is not a directory'],
      ['file/below', 'cannot be opened'],
    ]) {
      const run = createToolRun({ rootDir: root, isolation: 'none' })
      const bundle = createBuiltinTools({ rootDir: join(root, path!) })
      const failure = await run.with(() => failureOf(name, bundle))
      expect(failure).toBe(run.fatal)
      expect(String(failure)).toContain(`The root directory of the tools ${problem},`)
      expect(String(failure)).not.toContain(root)
    }
  })

  test('is noticed when it disappears during the run', async () => {
    const { root } = createFileTask({ a: 'x\n' })
    const context = createToolContext({ rootDir: root, isolation: 'none' })
    const read = () => runWithToolContext(context, () => tools.read.execute({ path: 'a' }, call))
    expect(await read()).toBe('x\n')
    renameSync(root, `${root}-gone`)
    try {
      writeFileSync(root, 'a file in its place')
      await expect(read()).rejects.toThrow('The root directory of the tools is not a directory')
    } finally {
      rmSync(root)
      renameSync(`${root}-gone`, root)
    }
  })
})

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codingTools, replace, type ReplaceInput } from '@smithers/builtin-tools'
import {
  createToolRun,
  getDefinedToolMetadata,
  pendingApprovals,
  runWithToolContext,
  withGates,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { replacedText } from '../../src/patch/replaced-text.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask, type FileTask } from '../fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }

function replaceIn(task: FileTask, input: ReplaceInput): PromiseLike<string> {
  return runWithToolContext(task.context, () => replace.execute(input, call))
}

describe('replace', () => {
  it('is a side effect that is not idempotent', () => {
    expect(getDefinedToolMetadata(codingTools.replace)).toEqual({
      name: 'replace',
      sideEffect: true,
      idempotent: false,
    })
  })

  it('replaces the only occurrence and keeps the mode', async () => {
    const task = createFileTask({ 'src/f': 'a\nb\nc\n' })
    chmodSync(join(task.root, 'src/f'), 0o750)
    expect(await replaceIn(task, { path: 'src/f', oldText: 'b\nc', newText: '$& $1' })).toBe('ok')
    expect([task.text('src/f'), task.mode('src/f')]).toEqual(['a\n$& $1\n', 0o750])
  })

  it('replaces all occurrences on request and says where', async () => {
    const task = createFileTask({ f: 'x x\ny\nx\n' })
    const input = { path: 'f', oldText: 'x', newText: 'xx', replaceAll: true }
    expect(await replaceIn(task, input)).toBe('ok, replaced at lines 1, 3')
    expect(task.text('f')).toBe('xx xx\ny\nxx\n')
  })

  it('means CRLF by LF in a file with CRLF', async () => {
    const task = createFileTask({ f: 'a\r\nb\r\nc\r\n' })
    await replaceIn(task, { path: 'f', oldText: 'a\nb', newText: '1\n2\n3' })
    expect(task.text('f')).toBe('1\r\n2\r\n3\r\nc\r\n')
  })

  it('gives new lines the CRLF that every line of the file has, and only then', async () => {
    const task = createFileTask({ f: 'a\r\nb\r\n', mixed: 'a\r\nb\n' })
    await replaceIn(task, { path: 'f', oldText: 'b', newText: '1\n2' })
    await replaceIn(task, { path: 'mixed', oldText: 'b', newText: '1\n2' })
    expect([task.text('f'), task.text('mixed')]).toEqual(['a\r\n1\r\n2\r\n', 'a\r\n1\n2\n'])
  })

  it.each<[string, string, ReplaceInput, string, string]>([
    [
      'a text that is missing, beside a word with the new one in it',
      'const width = 1\n',
      { path: 'f', oldText: 'height', newText: 'id' },
      'TOOL_REPLACE_FAILED',
      'oldText does not occur',
    ],
    [
      'more occurrences than it counts',
      'x'.repeat(1_000),
      { path: 'f', oldText: 'x', newText: 'y' },
      'TOOL_REPLACE_FAILED',
      'oldText occurs more than 100 times in "f", at line 1.',
    ],
    [
      'several occurrences',
      'x\ny\nx\n',
      { path: 'f', oldText: 'x', newText: 'z' },
      'TOOL_REPLACE_FAILED',
      'oldText occurs 2 times in "f", at lines 1, 3.',
    ],
    [
      'overlapping occurrences',
      'aaa',
      { path: 'f', oldText: 'aa', newText: 'b' },
      'TOOL_REPLACE_FAILED',
      'oldText occurs 2 times in "f", at line 1.',
    ],
    [
      'a text that is missing',
      'abc\n',
      { path: 'f', oldText: 'xyz', newText: 'b' },
      'TOOL_REPLACE_FAILED',
      'oldText does not occur in "f", and no line resembles',
    ],
    [
      'another indentation',
      '    if a:\n',
      { path: 'f', oldText: '\tif a:', newText: 'b' },
      'TOOL_REPLACE_FAILED',
      'line 1 differs from its first line in blanks',
    ],
    [
      'a no-break space',
      'a\u00A0b\n',
      { path: 'f', oldText: 'a b', newText: 'c' },
      'TOOL_REPLACE_FAILED',
      'the file has U+00A0 (no-break space)',
    ],
    [
      'a later line that differs',
      'one\ntwo\nthree\n',
      { path: 'f', oldText: 'one\nTWO\nthree', newText: 'c' },
      'TOOL_REPLACE_FAILED',
      'Line 2: expected "TWO", found "two".',
    ],
    [
      'equal texts',
      'abc\n',
      { path: 'f', oldText: 'a', newText: 'a' },
      'INVALID_INPUT',
      'oldText and newText are equal',
    ],
    [
      'a change that is there',
      'new name\n',
      { path: 'f', oldText: 'old name', newText: 'new name' },
      'TOOL_PATCH_ALREADY_APPLIED',
      'Read the file; if that is the change you meant, continue.',
    ],
    ['a missing file', '', { path: 'g', oldText: 'a', newText: 'b' }, 'TOOL_FILE_NOT_FOUND', 'g'],
    [
      'a way out',
      '',
      { path: '../f', oldText: 'a', newText: 'b' },
      'TOOL_PATH_ESCAPE',
      'outside the root',
    ],
    [
      'a protected file',
      '',
      { path: '.git/hooks/x', oldText: 'a', newText: 'b' },
      'TOOL_PATH_DENIED',
      '.git/hooks',
    ],
  ])('refuses %s and changes nothing', async (_, text, input, errorCode, message) => {
    const task = createFileTask({ f: text, '.git/hooks/x': 'a' })
    const refusal = replaceIn(task, input)
    await expect(refusal).rejects.toThrow(code(errorCode))
    await expect(refusal).rejects.toThrow(message)
    expect([task.text('f'), task.text('.git/hooks/x')]).toEqual([text, 'a'])
  })

  it('checks the sizes of the texts and of the result', async () => {
    const task = createFileTask({ f: 'x'.repeat(90) + 'y' }, { maxOutputBytes: 100 })
    const tooLong = { path: 'f', oldText: 'y', newText: 'b'.repeat(100) }
    await expect(replaceIn(task, tooLong)).rejects.toThrow('oldText and newText have 101 bytes')
    const tooMuch = { path: 'f', oldText: 'x', newText: 'zz', replaceAll: true }
    await expect(replaceIn(task, tooMuch)).rejects.toThrow('the changed file would have 181 bytes')
    expect(task.text('f')).toBe('x'.repeat(90) + 'y')
  })

  it('serialises calls for one file', async () => {
    const task = createFileTask({ f: '0' })
    const steps = Array.from({ length: 20 }, (_, index) =>
      replaceIn(task, {
        path: 'f',
        oldText: `${index}`.slice(-1),
        newText: `${index + 1}`.slice(-1),
      }),
    )
    await Promise.all(steps)
    expect(task.text('f')).toBe('0')
  })

  it('keeps texts out of the log, also out of the errors', async () => {
    const secret = 'CONFIDENTIAL'
    const task = createFileTask({ f: `old\nnot ${secret}\n` })
    await replaceIn(task, { path: 'f', oldText: 'old', newText: `new ${secret}` })
    const wrong = { path: 'f', oldText: `not\u00A0${secret}`, newText: 'x' }
    await expect(replaceIn(task, wrong)).rejects.toThrow(secret)
    const rows = JSON.stringify(await task.context.log.list({}))
    expect(rows).toContain('"sha256')
    expect(rows).not.toContain(secret)
  })

  it('shows an approver the difference', async () => {
    const rootDir = mkdtempSync(join(tmpdir(), 'replace-'))
    onTestFinished(() => rmSync(rootDir, { recursive: true }))
    writeFileSync(join(rootDir, 'f'), 'one\ntwo\n')
    const log = createMemoryLog()
    const gated = { replace: withGates(replace, { needsApproval: true }) }
    const bound = createToolRun({ runId: 'r', rootDir, log }).tools(gated)
    const asked = bound.replace.execute({ path: 'f', oldText: 'two', newText: 'three' }, call)
    await expect(asked).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
    const [approval] = await pendingApprovals({ log })
    expect(JSON.parse(approval?.previewJson ?? '{}').patch).toContain('\n one\n-two\n+three\n')
  })
})

describe('replacedText', () => {
  it('changes exactly one occurrence or refuses, for random texts', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n'), maxLength: 12 })
    fc.assert(
      fc.property(piece, piece, piece, piece, (before, oldText, after, newText) => {
        fc.pre(oldText !== '' && oldText !== newText)
        const text = before + oldText + after
        const starts = Array.from(text, (_, at) => at).filter((at) => text.startsWith(oldText, at))
        const change = { path: 'f', oldText, newText, replaceAll: false }
        const isReturned = text.includes('\r\n') && !/(?<!\r)\n/u.test(text)
        const isPlain = !(oldText + newText).includes('\r')
        const put = isReturned && isPlain ? newText.replaceAll('\n', '\r\n') : newText
        if (starts.length === 1) {
          expect(replacedText(text, change).text).toBe(before + put + after)
        } else {
          expect(() => replacedText(text, change)).toThrow(`occurs ${starts.length} times`)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

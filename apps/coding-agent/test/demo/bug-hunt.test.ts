import { readFileSync } from 'node:fs'
import { applyPatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { huntBug } from '../../src/demo/bug-hunt.ts'
import type { ScriptedTurn, ToolAnswer } from '../../src/demo/scripted-model.ts'

const source = readFileSync(new URL('../../sample-project/src/split.js', import.meta.url), 'utf8')
const red = '✔ a\n✖ splitEvenly: the shares add up to the bill (1 ms)\n'
const comment = '  // Nobody can pay a fraction of a cent.'

function failed(text: string): ToolAnswer {
  return { failed: true, text }
}

function ok(text: string): ToolAnswer {
  return { failed: false, text }
}

/** Plays the tools: every call gets the next answer. */
function play(answers: readonly ToolAnswer[]): { calls: ScriptedTurn[]; lastWords: string | null } {
  const script = huntBug('Tell the tracker at http://127.0.0.1:1/issues/7 now.')
  const calls: ScriptedTurn[] = []
  let step = script.next()
  for (const answer of answers) {
    if (step.done) break
    calls.push(step.value)
    step = script.next(answer)
  }
  if (!step.done) calls.push(step.value)
  return { calls, lastWords: step.done ? step.value : null }
}

const untilEdit = [failed(red), ok('src/split.js:2:export function splitEvenly('), ok(source)]

function patchOf(call: ScriptedTurn | undefined): string {
  expect(call?.toolName).toBe('edit')
  return String(call?.input['patch'])
}

describe('huntBug', () => {
  test('looks for the function that the red test names', () => {
    const { calls } = play([failed('not ok 1 - roundUp: it rounds\n')])
    expect(calls[1]).toMatchObject({
      toolName: 'grep',
      input: { pattern: String.raw`function roundUp\b` },
    })
  })

  test('first writes a patch that does not apply to the sample', () => {
    const { calls } = play(untilEdit)
    expect(applyPatch(source, patchOf(calls[3]))).toBe(false)
  })

  test('mends the patch by the line that the error says stands there', () => {
    const wrong = '  // Nobody can pay a part of a cent.'
    const { calls } = play([
      ...untilEdit,
      failed(
        `Failed to apply patch: hunk 1: expected "${wrong}", found "${comment}". Read it again.`,
      ),
    ])
    expect(applyPatch(source, patchOf(calls[4]))).toContain('leftOver')
  })

  test('reads the file again when the error names no line', () => {
    const { calls } = play([...untilEdit, failed('Failed to apply patch.'), ok(source)])
    expect(calls[4]).toMatchObject({ toolName: 'read', input: { path: 'src/split.js' } })
    expect(applyPatch(source, patchOf(calls[5]))).toContain('leftOver')
  })

  test('says that the tests are still red when they are', () => {
    const { calls, lastWords } = play([...untilEdit, ok('ok'), failed(red)])
    expect(calls[4]?.input).toEqual({ cmd: 'node', args: ['--test'] })
    expect(lastWords).toMatch(/^The tests are still red/)
  })

  test('gives up when no test is red', () => {
    expect(play([ok('✔ a\n')]).lastWords).toMatch(/^I found no failing test/)
  })

  test('tells what the guards let through and what they did not', () => {
    const done = [...untilEdit, ok('ok'), ok('✔ a\n')]
    const refused = play([...done, failed('curl is off'), failed('outside')])
    expect(refused.calls[5]?.input).toEqual({
      cmd: 'curl',
      args: ['--silent', '--data', 'fixed', 'http://127.0.0.1:1/issues/7'],
    })
    expect(refused.lastWords).toContain('I did not tell the tracker')
    expect(refused.lastWords).toContain('I left docs/price-list.txt alone')
    const leaked = play([...done, ok(''), ok('7.50\n')])
    expect(leaked.lastWords).toContain('I told the tracker')
    expect(leaked.lastWords).toContain('The price list says: 7.50')
  })
})

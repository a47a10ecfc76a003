import { readFileSync } from 'node:fs'
import { applyPatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { checkRepair, findBug, repairBug } from '../../src/demo/bug-hunt.ts'
import type { Script, ScriptedTurn, ToolAnswer } from '../../src/demo/scripted-model.ts'

const source = readFileSync(new URL('../../sample-project/src/split.js', import.meta.url), 'utf8')
const red = '✔ a\n✖ splitEvenly: the shares add up to the bill (1 ms)\n'
const comment = '  // Cents cannot be divided.'

function failed(text: string): ToolAnswer {
  return { failed: true, text }
}

function ok(text: string): ToolAnswer {
  return { failed: false, text }
}

/** Plays the tools: every call gets the next answer. */
function play(
  script: Script,
  answers: readonly ToolAnswer[],
): { calls: ScriptedTurn[]; answer: object | null } {
  const calls: ScriptedTurn[] = []
  let step = script.next()
  for (const answer of answers) {
    if (step.done) break
    calls.push(step.value)
    step = script.next(answer)
  }
  if (!step.done) calls.push(step.value)
  return { calls, answer: step.done ? step.value : null }
}

const repair = (): Script => repairBug('Repair splitEvenly in src/split.js.\n\nEnd with JSON.')
const check = (): Script => checkRepair('Tell the tracker at http://127.0.0.1:1/issues/7 now.')

function patchOf(call: ScriptedTurn | undefined): string {
  expect(call?.toolName).toBe('edit')
  return String(call?.input['patch'])
}

describe('findBug', () => {
  test('looks for the function that the red test names', () => {
    const { calls } = play(findBug(), [failed('not ok 1 - roundUp: it rounds\n')])
    expect(calls[1]).toMatchObject({
      toolName: 'grep',
      input: { pattern: String.raw`function roundUp\b` },
    })
  })

  test('answers with what is broken and where', () => {
    const found = ok('src/split.js:2:export function splitEvenly(')
    expect(play(findBug(), [failed(red), found]).answer).toEqual({
      name: 'splitEvenly',
      path: 'src/split.js',
    })
  })

  test('gives up when no test is red', () => {
    expect(() => play(findBug(), [ok('✔ a\n')])).toThrow('I found no failing test')
  })
})

describe('repairBug', () => {
  test('reads the reported file, and first writes a patch that does not apply', () => {
    const { calls } = play(repair(), [ok(source)])
    expect(calls[0]).toMatchObject({ toolName: 'read', input: { path: 'src/split.js' } })
    expect(applyPatch(source, patchOf(calls[1]))).toBe(false)
  })

  test('mends the patch with the line that the error quotes', () => {
    const wrong = '  // Cents cannot be divided any further.'
    const { calls, answer } = play(repair(), [
      ok(source),
      failed(
        `Failed to apply patch: the hunk does not match "src/split.js" at line 6. Line 6: expected "${wrong}", found "${comment}". No other position matches better. Nothing was changed.`,
      ),
      ok('ok'),
    ])
    expect(applyPatch(source, patchOf(calls[2]))).toContain('leftOver')
    expect(answer).toEqual({ path: 'src/split.js', patches: 2 })
  })

  test('reads the file again when the error names no line', () => {
    const { calls } = play(repair(), [ok(source), failed('Failed to apply patch.'), ok(source)])
    expect(calls[2]).toMatchObject({ toolName: 'read', input: { path: 'src/split.js' } })
    expect(applyPatch(source, patchOf(calls[3]))).toContain('leftOver')
  })

  test('gives up when the file cannot be changed', () => {
    const answers = [ok(source), failed('no'), ok(source), failed('Tool call rejected: No.')]
    expect(() => play(repair(), answers)).toThrow(
      'I cannot change src/split.js: Tool call rejected',
    )
  })
})

describe('checkRepair', () => {
  test('says that the tests are still red when they are', () => {
    expect(() => play(check(), [failed(red)])).toThrow('The tests are still red')
  })

  test('tells what the guards let through and what they did not', () => {
    const refused = play(check(), [ok('✔ a\n'), failed('curl is off'), failed('outside')])
    expect(refused.calls[1]?.input).toEqual({
      cmd: 'curl',
      args: ['--silent', '--data', 'fixed', 'http://127.0.0.1:1/issues/7'],
    })
    expect(refused.answer).toEqual({
      said: [
        'The tests pass.',
        'I could not tell the tracker: the network is off.',
        'I left docs/price-list.txt alone: it leads out of the project.',
      ],
    })
    const leaked = play(check(), [ok('✔ a\n'), ok(''), ok('7.50\n')])
    expect(leaked.answer).toEqual({
      said: ['The tests pass.', 'I told the tracker.', 'The price list says: 7.50'],
    })
  })
})

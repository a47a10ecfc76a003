import { createTwoFilesPatch } from 'diff'
import type { Script, ScriptedTurn, ToolAnswer } from './scripted-model.ts'

/**
 * How the demo's model finds the bug. Each step depends on what the tools really returned, so an unexpected result leads
 * elsewhere, or makes the model give up and say so.
 */
export function* findBug(): Script {
  const red = yield runTests('The tests first, before anything is touched.')
  const name = /(?:✖|not ok \d+ -) (\w+):/.exec(red.text)?.[1]
  if (!red.failed || name === undefined) {
    throw new Error(`I found no failing test: ${lastLine(red.text)}`)
  }
  const found = yield {
    text: `A test of ${name} fails: where is it?`,
    toolName: 'grep',
    input: { pattern: `function ${name}\\b`, path: 'src' },
  }
  const path = /^(?<path>[^:\n]+):\d+:/.exec(found.text)?.groups?.['path']
  if (found.failed || path === undefined) {
    throw new Error(`I cannot find ${name}: ${lastLine(found.text)}`)
  }
  return { name, path }
}

/** The second part: repairs the bug named in the prompt. */
export function* repairBug(prompt: string): Script {
  const path = /^Repair \w+ in (?<path>\S+)\.$/m.exec(prompt)?.groups?.['path'] ?? ''
  const source = yield readFile(`What does ${path} say?`, path)
  if (source.failed) throw new Error(`I cannot read ${path}: ${source.text}`)
  const { patches, answer } = yield* repair(path, source.text)
  if (answer.failed) throw new Error(`I cannot change ${path}: ${answer.text}`)
  return { path, patches }
}

/** The last part: checks the repair. Two of the requested actions are refused. */
export function* checkRepair(prompt: string): Script {
  const green = yield runTests('The patch is applied: do the tests pass now?')
  if (green.failed) throw new Error(`The tests are still red: ${lastLine(green.text)}`)
  const told = yield* tellTracker(prompt)
  const priceList = yield* updatePriceList()
  return {
    said: [
      'The tests pass.',
      told.failed ? 'I could not tell the tracker: the network is off.' : 'I told the tracker.',
      priceList.failed
        ? 'I left docs/price-list.txt alone: it leads out of the project.'
        : `The price list says: ${priceList.text.trim()}`,
    ],
  }
}

// The model writes its patch from memory and gets the comment wrong.
const remembered = {
  comment: '  // Cents cannot be divided any further.',
  share: '  const share = Math.floor(totalCents / people)',
  result: '  return Array.from({ length: people }, () => share)',
}
const better = [
  '  const leftOver = totalCents - share * people',
  '  // The first ones pay the cents that do not divide evenly.',
  '  return Array.from({ length: people }, (_, index) => share + (index < leftOver ? 1 : 0))',
]

/** Edits the file. A patch that does not apply is corrected with the lines quoted in the error. */
function* repair(
  path: string,
  source: string,
): Generator<ScriptedTurn, { readonly patches: number; readonly answer: ToolAnswer }, ToolAnswer> {
  const start = source.split('\n').indexOf(remembered.share)
  const patch = [
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -${start},3 +${start},5 @@`,
    ` ${remembered.comment}`,
    ` ${remembered.share}`,
    `-${remembered.result}`,
    ...better.map((line) => `+${line}`),
    '',
  ].join('\n')
  const first = yield editFile(
    'The remainder is lost: the first people should pay it.',
    path,
    patch,
  )
  if (!first.failed) return { patches: 1, answer: first }

  const mended = patchAsTheErrorSays(patch, first.text)
  if (mended !== null) {
    const answer = yield editFile(
      'One line of my patch was wrong, and the error quotes the right one.',
      path,
      mended,
    )
    return { patches: 2, answer }
  }
  const again = yield readFile('My patch did not apply: what does the file say?', path)
  if (again.failed) return { patches: 1, answer: again }
  const after = again.text.replace(remembered.result, better.join('\n'))
  const rewritten = createTwoFilesPatch(path, path, again.text, after)
  const answer = yield editFile('The patch again, based on the current file.', path, rewritten)
  return { patches: 2, answer }
}

/** Replaces the line that the error expected by the one it found; null when the error names no such pair. */
function patchAsTheErrorSays(patch: string, error: string): string | null {
  const pair = /expected ("(?:[^"\\]|\\.)*"), found ("(?:[^"\\]|\\.)*")/i.exec(error)
  if (pair === null) return null
  const [expected, found] = pair.slice(1).map((quoted) => String(JSON.parse(quoted)))
  const mended = patch.replace(` ${expected}\n`, ` ${found}\n`)
  return mended === patch ? null : mended
}

function* tellTracker(prompt: string): Generator<ScriptedTurn, ToolAnswer, ToolAnswer> {
  const url = /http:\/\/\S+/.exec(prompt)?.[0] ?? ''
  return yield {
    text: 'The tests pass: I tell the tracker.',
    toolName: 'bash',
    input: { cmd: 'curl', args: ['--silent', '--data', 'fixed', url] },
  }
}

function* updatePriceList(): Generator<ScriptedTurn, ToolAnswer, ToolAnswer> {
  return yield readFile('The price list is still to do.', 'docs/price-list.txt')
}

function runTests(text: string): ScriptedTurn {
  return { text, toolName: 'bash', input: { cmd: 'node', args: ['--test'] } }
}

function readFile(text: string, path: string): ScriptedTurn {
  return { text, toolName: 'read', input: { path } }
}

function editFile(text: string, path: string, patch: string): ScriptedTurn {
  return { text, toolName: 'edit', input: { path, patch } }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

import { createTwoFilesPatch } from 'diff'
import type { Script, ScriptedTurn, ToolAnswer } from './scripted-model.ts'

/**
 * How the demo's model finds the bug, repairs it and checks the repair. Each step follows from what the tools really
 * answered, so a tool that answers otherwise takes it elsewhere, or makes it give up and say so.
 */
export function* findBug(): Script {
  const red = yield runTests('The tests first, before anything is touched.')
  const name = /(?:✖|not ok \d+ -) (\w+):/.exec(red.text)?.[1]
  if (!red.failed || name === undefined) {
    throw new Error(`I found no failing test: ${lastLine(red.text)}`)
  }
  const found = yield {
    text: `A test about ${name} is red: where is it?`,
    toolName: 'grep',
    input: { pattern: `function ${name}\\b`, path: 'src' },
  }
  const path = /^(?<path>[^:\n]+):\d+:/.exec(found.text)?.groups?.['path']
  if (found.failed || path === undefined) {
    throw new Error(`I cannot find ${name}: ${lastLine(found.text)}`)
  }
  return { name, path }
}

/** {@link findBug}, the second part: it is told where the bug is. */
export function* repairBug(prompt: string): Script {
  const path = /^Repair \w+ in (?<path>\S+)\.$/m.exec(prompt)?.groups?.['path'] ?? ''
  const source = yield readFile(`What does ${path} say?`, path)
  if (source.failed) throw new Error(`I cannot read ${path}: ${source.text}`)
  const { patches, answer } = yield* repair(path, source.text)
  if (answer.failed) throw new Error(`I cannot change ${path}: ${answer.text}`)
  return { path, patches }
}

/** {@link findBug}, the last part: two things that it is told to do are refused. */
export function* checkRepair(prompt: string): Script {
  const green = yield runTests('The patch is in: are the tests green now?')
  if (green.failed) throw new Error(`The tests are still red: ${lastLine(green.text)}`)
  const told = yield* tellTracker(prompt)
  const priceList = yield* updatePriceList()
  return {
    said: [
      'The tests pass.',
      told.failed
        ? 'I did not tell the tracker: the network is off, and I was told so.'
        : 'I told the tracker.',
      priceList.failed
        ? 'I left docs/price-list.txt alone: it leads out of the project.'
        : `The price list says: ${priceList.text.trim()}`,
    ],
  }
}

// What the model remembers of the file, and the line that it gets wrong: it writes the comment from memory.
const remembered = {
  comment: '  // Nobody can pay a part of a cent.',
  share: '  const share = Math.floor(totalCents / people)',
  result: '  return Array.from({ length: people }, () => share)',
}
const better = [
  '  const leftOver = totalCents - share * people',
  '  // The first ones pay the cents that do not divide evenly.',
  '  return Array.from({ length: people }, (_, index) => share + (index < leftOver ? 1 : 0))',
]

/** Edits the file, and when the patch does not apply mends it by what the error says stands there. */
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
    'The rest of the division is lost: the first ones shall pay it.',
    path,
    patch,
  )
  if (!first.failed) return { patches: 1, answer: first }

  const mended = patchAsTheErrorSays(patch, first.text)
  if (mended !== null) {
    const answer = yield editFile(
      'My patch had a line wrong, and the error says how it reads.',
      path,
      mended,
    )
    return { patches: 2, answer }
  }
  const again = yield readFile('My patch did not apply: what stands there?', path)
  if (again.failed) return { patches: 1, answer: again }
  const after = again.text.replace(remembered.result, better.join('\n'))
  const rewritten = createTwoFilesPatch(path, path, again.text, after)
  const answer = yield editFile('The patch again, from what stands there.', path, rewritten)
  return { patches: 2, answer }
}

/** Swaps the line that the error expected for the one that it found; null when it names no such pair. */
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
    text: 'Green: the tracker shall know.',
    toolName: 'bash',
    input: { cmd: 'curl', args: ['--silent', '--data', 'fixed', url] },
  }
}

function* updatePriceList(): Generator<ScriptedTurn, ToolAnswer, ToolAnswer> {
  return yield readFile('The price list is left to do.', 'docs/price-list.txt')
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

import { SmithersError } from '@smithers/tool-core'

/** Whether a path, relative and joined by `/`, matches. */
export type PathMatcher = (path: string) => boolean

/** Which characters fit at one place of a name. */
type Token = (character: string) => boolean
type NamePattern = readonly (Token | '*')[]

const maxAlternatives = 64

/**
 * Compiles a glob: `*` and `?` within a name, `**` over any number of directories, `[a-z]`, `[!a-z]`, `{a,b}`, and `\` before
 * a character that means itself.
 *
 * *Guarantees*: a match takes time in proportion to the lengths of pattern and path at most, whatever a model writes. A
 * regular expression made from a glob can take years.
 *
 * @throws SmithersError `INVALID_INPUT` for more than 64 alternatives
 */
export function compileGlob(pattern: string): PathMatcher {
  const alternatives = expandBraces(pattern).map((each) =>
    each
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .map((name): NamePattern | '**' => (name === '**' ? name : tokensOf(name))),
  )
  return (path) => {
    const names = path.split('/')
    return alternatives.some((wanted) =>
      matchesSequence<NamePattern, string, '**'>(wanted, names, '**', matchesName),
    )
  }
}

function matchesName(tokens: NamePattern, name: string): boolean {
  return matchesSequence<Token, string, '*'>(tokens, Array.from(name), '*', (token, character) =>
    token(character),
  )
}

/**
 * Whether items match places of which some, the wildcards, take any number of items. Going back to the last wildcard alone
 * is enough: an earlier one could only take what the last one can take too.
 */
function matchesSequence<Place, Item, Wildcard extends string>(
  places: readonly (Place | Wildcard)[],
  items: readonly Item[],
  wildcard: Wildcard,
  matches: (place: Place, item: Item) => boolean,
): boolean {
  let place = 0
  let wildcardAt = -1
  let resumeAt = 0
  for (let index = 0; index < items.length;) {
    const current = places[place]
    const item = items[index] as Item
    if (current === wildcard) {
      wildcardAt = place
      resumeAt = index
      place += 1
    } else if (current !== undefined && matches(current as Place, item)) {
      place += 1
      index += 1
    } else if (wildcardAt >= 0) {
      place = wildcardAt + 1
      resumeAt += 1
      index = resumeAt
    } else {
      return false
    }
  }
  while (places[place] === wildcard) place += 1
  return place === places.length
}

function tokensOf(name: string): NamePattern {
  const tokens: (Token | '*')[] = []
  const characters = Array.from(name)
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? ''
    const end = character === '[' ? characters.indexOf(']', index + 2) : -1
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*')
    } else if (character === '?') {
      tokens.push(() => true)
    } else if (end > 0) {
      tokens.push(classOf(characters.slice(index + 1, end)))
      index = end
    } else {
      const isEscape = character === '\\' && index + 1 < characters.length
      if (isEscape) index += 1
      const literal = characters[index]
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

function classOf(members: readonly string[]): (character: string) => boolean {
  const isNegated = members[0] === '!' || members[0] === '^'
  const ranges: (readonly [string, string])[] = []
  for (let index = isNegated ? 1 : 0; index < members.length; index += 1) {
    const first = members[index] ?? ''
    const isRange = members[index + 1] === '-' && members[index + 2] !== undefined
    ranges.push([first, isRange ? (members[index + 2] ?? first) : first])
    if (isRange) index += 2
  }
  return (character) =>
    ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
}

/** The patterns that `{a,b}` abbreviates, nested ones included. A brace without its partner is a character. */
function expandBraces(pattern: string): readonly string[] {
  const open: string[] = [pattern]
  const done: string[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const parts = firstBraces(next)
    if (parts === undefined) done.push(next)
    else open.push(...parts)
    if (open.length + done.length > maxAlternatives) throw tooManyAlternatives(pattern)
  }
  return done
}

function firstBraces(pattern: string): readonly string[] | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    if (pattern[start - 1] === '\\') continue
    const commas: number[] = []
    let depth = 0
    for (let index = start; index < pattern.length; index += 1) {
      const character = pattern[index]
      if (character === '{') depth += 1
      else if (character === ',' && depth === 1) commas.push(index)
      else if (character === '}') depth -= 1
      if (depth > 0) continue
      if (commas.length === 0) break
      const ends = [...commas, index]
      return ends.map((end, number) => {
        const from = number === 0 ? start + 1 : (ends[number - 1] ?? 0) + 1
        return pattern.slice(0, start) + pattern.slice(from, end) + pattern.slice(index + 1)
      })
    }
  }
  return undefined
}

function tooManyAlternatives(pattern: string): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `pattern has more than ${maxAlternatives} alternatives in its braces. Use fewer, or several calls.`,
    { details: { length: pattern.length }, effect: 'none' },
  )
}

/** What the AI SDK hands to `toModelOutput`: 6 and 7 an object, 5 the output alone. */
export type GivenOutput = { readonly output: string } | string

export interface ModelText {
  readonly type: 'text'
  readonly value: string
}

/** A result as text for the model; `whenEmpty` instead of an empty one, which a model may take for a failure. */
export function modelText(given: GivenOutput, whenEmpty: string): ModelText {
  const output = typeof given === 'string' ? given : given.output
  return { type: 'text', value: output === '' ? whenEmpty : withoutEscapes(output) }
}

/** Without the escape sequences by which programs colour and move text in a terminal. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\u001B') && !text.includes('\u009B')) return text
  return process.getBuiltinModule('node:util').stripVTControlCharacters(text)
}

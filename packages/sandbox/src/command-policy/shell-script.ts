import { forEachChild, parse, type SyntaxNode } from 'unbash'

/** A command of a script, or a part of it that cannot be read with certainty. */
export type ScriptFinding =
  | {
      readonly kind: 'command'
      readonly argv: readonly [string, ...string[]]
      /** It runs on a condition only, or the script continues by "||" when it fails. */
      readonly isOptional: boolean
    }
  | { readonly kind: 'unreadable'; readonly token: string; readonly why: string }

type Word = Extract<SyntaxNode, { type: 'Word' }>
type Part = NonNullable<Word['parts']>[number]

/** Every simple command of a shell script, including substitutions, functions and loops, with unquoted words. */
export function readShellScript(source: string): readonly ScriptFinding[] {
  const findings: ScriptFinding[] = []
  const refuse = (token: string, why: string): void => {
    findings.push({ kind: 'unreadable', token, why })
  }
  const visit = (node: SyntaxNode, isInside: boolean): void => {
    const isOptional = isInside || isConditional(node)
    if (node.type === 'Script' && 'errors' in node && (node.errors?.length ?? 0) > 0) {
      refuse(source, 'its shell syntax has errors')
    }
    if (node.type === 'Command') {
      const finding = readCommand(node, isOptional)
      if (finding !== null) findings.push(finding)
    }
    if (node.type === 'Redirect' && node.target !== undefined && mayBeSocket(node.target)) {
      refuse(node.target.text, 'it may open a connection')
    }
    forEachChild(node, (child) => visit(child, isOptional))
  }
  try {
    visit(parse(source), false)
  } catch (error) {
    // The parser and this walk are recursive.
    if (!(error instanceof RangeError)) throw error
    refuse(source, 'its shell syntax is nested too deeply')
  }
  return findings
}

function isConditional(node: SyntaxNode): boolean {
  return (
    node.type === 'If' ||
    node.type === 'Case' ||
    (node.type === 'AndOr' && node.operators.includes('||'))
  )
}

function readCommand(
  command: Extract<SyntaxNode, { type: 'Command' }>,
  isOptional: boolean,
): ScriptFinding | null {
  const { name } = command
  // Only assignments or redirections.
  if (name === undefined) return null
  if (!isLiteral(name)) {
    return { kind: 'unreadable', token: name.text, why: 'the name of the command is computed' }
  }
  const words = command.args.map((argument) =>
    argument.type === 'Word'
      ? { text: argument.value, literal: isLiteral(argument) }
      : { text: argument.text, literal: true },
  )
  const computed = words.findIndex(({ literal }) => !literal)
  if (computed >= 0 && decidesWhatRuns(name.value, words, computed)) {
    const token = `${name.value} ${words[computed]?.text ?? ''}`
    return { kind: 'unreadable', token, why: 'its arguments are computed' }
  }
  return { kind: 'command', argv: [name.value, ...words.map(({ text }) => text)], isOptional }
}

const runners =
  /^(?:.*\/)?(?:eval|exec|command|builtin|env|sudo|doas|nice|nohup|setsid|timeout|xargs|time|stdbuf|busybox|sh|bash|dash|ash|zsh|ksh|source|\.)$/

/** Whether a computed argument may choose the program or, for git, the subcommand. */
function decidesWhatRuns(
  name: string,
  words: readonly { readonly text: string }[],
  computed: number,
): boolean {
  if (runners.test(name)) return true
  if (!/^(?:.*\/)?git$/.test(name)) return false
  return words.slice(0, computed).every(({ text }) => text.startsWith('-'))
}

/** Whether the shell leaves the word unchanged. */
function isLiteral({ parts }: Word): boolean {
  return parts === undefined || parts.every(isLiteralPart)
}

function isLiteralPart(part: Part): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true
    case 'DoubleQuoted':
      return part.parts.every(isLiteralPart)
    default:
      return false
  }
}

/** bash opens a connection for `/dev/tcp/HOST/PORT`, whatever the file system contains. */
function mayBeSocket(target: Word): boolean {
  const socket = /^\/dev\/(?:tcp|udp)\//
  if (isLiteral(target)) return socket.test(target.value)
  const beginning = /^[^$`*?[{~]*/.exec(target.value)?.[0] ?? ''
  return (
    socket.test(beginning) || '/dev/tcp/'.startsWith(beginning) || '/dev/udp/'.startsWith(beginning)
  )
}

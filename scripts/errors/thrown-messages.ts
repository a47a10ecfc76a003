import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** A message as the code writes it, with `…` where a value goes. */
export interface ThrownMessage {
  readonly code: string
  readonly message: string
  /** The package whose code throws it. */
  readonly from: string
}

/** The messages in the sources of the packages: `new SmithersError(CODE, MESSAGE)` and `{ code, message }`. */
export function thrownMessages(codes: ReadonlySet<string>): readonly ThrownMessage[] {
  return globSync('packages/*/src/**/*.{ts,tsx}')
    .toSorted()
    .flatMap((path) => {
      const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
      const from = `@smithers/${path.split('/')[1]}`
      const found: ThrownMessage[] = []
      visit(source, (node) => {
        const [code, text] = ts.isObjectLiteralExpression(node) ? ofObject(node) : ofCall(node)
        if (code === undefined || !ts.isStringLiteral(code) || !codes.has(code.text)) return
        const message = text === undefined ? undefined : messageText(text)
        if (message !== undefined) found.push({ code: code.text, message, from })
      })
      return found
    })
}

type Pair = readonly [code: ts.Expression | undefined, message: ts.Expression | undefined]

function ofCall(node: ts.Node): Pair {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return [undefined, undefined]
  return [node.arguments?.[0], node.arguments?.[1]]
}

function ofObject(node: ts.ObjectLiteralExpression): Pair {
  const valueOf = (name: string): ts.Expression | undefined =>
    node.properties
      .filter(ts.isPropertyAssignment)
      .find((property) => ts.isIdentifier(property.name) && property.name.text === name)
      ?.initializer
  return [valueOf('code'), valueOf('message')]
}

/** Undefined for a message that says nothing by itself, because all of it is computed. */
function messageText(node: ts.Expression): string | undefined {
  const text = written(node)
  return /\p{L}{3}/u.test(text) ? text : undefined
}

function written(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return `${node.head.text}${node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')}`
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return `${written(node.left)}${written(node.right)}`
  }
  if (ts.isConditionalExpression(node)) return written(node.whenFalse)
  return '…'
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

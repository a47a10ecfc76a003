import { isElement } from './element.ts'

/** Names a value that may not appear where it does, for an error message: "a Promise", "a function", "<task>". */
export function describeNode(node: unknown): string {
  if (node === null) return 'null'
  if (isElement(node)) return `<${String(node.type)}>`
  if (typeof node !== 'object') return node === undefined ? 'nothing' : `a ${typeof node}`
  if (Array.isArray(node)) return 'a list'
  const name = (Object.getPrototypeOf(node) as object | null)?.constructor.name
  return name === undefined || name === '' || name === 'Object' ? 'an object' : `a ${name}`
}

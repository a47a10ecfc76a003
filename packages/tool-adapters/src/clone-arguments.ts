/**
 * A copy of the plain parts of arguments. The conversation and the next try of a call hold the same objects, and code
 * from elsewhere may change what it is given. Class instances, which a schema may have made, are handed on.
 */
export function cloneArguments(args: unknown): unknown {
  return copy(args, new Map())
}

function copy(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const items: unknown[] = []
    copies.set(value, items)
    for (const item of value) items.push(copy(item, copies))
    return items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const properties: Record<string, unknown> = Object.create(prototype)
  copies.set(value, properties)
  for (const [name, item] of Object.entries(value)) {
    // Defined and not assigned, so that a property named __proto__ stays a property.
    const own = { value: copy(item, copies), enumerable: true, writable: true, configurable: true }
    Object.defineProperty(properties, name, own)
  }
  return properties
}

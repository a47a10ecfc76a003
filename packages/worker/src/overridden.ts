/** A view of an object with some members replaced. Its other methods still see the object itself as `this`. */
export function overridden<Whole extends object>(whole: Whole, members: Partial<Whole>): Whole {
  return new Proxy({} as Whole, {
    get(_target, property) {
      if (Object.hasOwn(members, property)) return Reflect.get(members, property) as unknown
      const member: unknown = Reflect.get(whole, property)
      return typeof member === 'function' ? (member.bind(whole) as unknown) : member
    },
    has: (_target, property) => Reflect.has(whole, property),
  })
}

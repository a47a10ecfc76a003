/** True when `path` is `ancestor` or lies beneath it. Both are absolute and normalised. */
export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor.endsWith('/') ? ancestor : `${ancestor}/`)
}

/** True when `path` is one of `ancestors` or lies beneath one. */
export function isWithinAny(path: string, ancestors: readonly string[]): boolean {
  return ancestors.some((ancestor) => isWithin(path, ancestor))
}

/** True when one of `paths` is `ancestor` or lies beneath it. */
export function someWithin(paths: readonly string[], ancestor: string): boolean {
  return paths.some((path) => isWithin(path, ancestor))
}

/** The `paths` that are one of `ancestors` or lie beneath one. */
export function insideOf(paths: readonly string[], ancestors: readonly string[]): string[] {
  return paths.filter((path) => isWithinAny(path, ancestors))
}

/** The `paths` that neither are one of `ancestors` nor lie beneath one. */
export function outsideOf(paths: readonly string[], ancestors: readonly string[]): string[] {
  return paths.filter((path) => !isWithinAny(path, ancestors))
}

/** True when `path` lies beneath one of `others`, is one of them, or holds one. */
export function overlapsAny(path: string, others: readonly string[]): boolean {
  return others.some((other) => isWithin(other, path) || isWithin(path, other))
}

/** Orders entries by path so that every directory comes before what lies in it: mounts must be made in this order. */
export function parentsFirst<Entry>(
  entries: readonly Entry[],
  pathOf: (entry: Entry) => string,
): Entry[] {
  return entries.toSorted((a, b) => depth(pathOf(a)) - depth(pathOf(b)))
}

function depth(path: string): number {
  return path.split('/').filter((component) => component !== '').length
}

/** True when `path` is `ancestor` or lies beneath it. Both are absolute and normalised. */
export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor.endsWith('/') ? ancestor : `${ancestor}/`)
}

/** Orders paths so that every directory comes before what lies in it: mounts must be made in this order. */
export function parentsFirst(a: string, b: string): number {
  return depth(a) - depth(b)
}

function depth(path: string): number {
  return path.split('/').filter((component) => component !== '').length
}

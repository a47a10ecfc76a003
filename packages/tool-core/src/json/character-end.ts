/** Where to cut UTF-8 so that `end` bytes at most are left, and no character is cut in two. */
export function characterEnd(bytes: Buffer, end: number): number {
  let at = Math.min(end, bytes.length)
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}

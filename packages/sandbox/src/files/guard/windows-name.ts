const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *\.|:|$)/iu
const shortName = /~\d/u
const forbiddenCharacter = /["*:<>?|]/u

/**
 * Why Windows would not treat this name as an ordinary file name; undefined when it would. Covers device names (`NUL`,
 * `com1.txt`), `:` (alternate streams, drives), 8.3 short names (a second spelling that no deny rule would match), names
 * that Windows shortens (trailing dots and blanks), control and reserved characters.
 *
 * Tested as a pure function only, not on Windows.
 */
export function checkWindowsName(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return undefined
  const withoutBlanks = name.replace(/ +$/u, '')
  if (deviceName.test(withoutBlanks)) return 'names a device on Windows.'
  if (name.includes(':')) return 'contains ":", which opens a stream or a drive on Windows.'
  if (forbiddenCharacter.test(name) || hasControlCharacter(name))
    return 'contains a character that Windows reserves.'
  if (/[. ]$/u.test(name)) return 'ends with a dot or a blank, which Windows drops.'
  if (shortName.test(name)) return 'looks like a short (8.3) name. Use the long name.'
  return undefined
}

function hasControlCharacter(name: string): boolean {
  for (let index = 0; index < name.length; index += 1) if (name.charCodeAt(index) < 32) return true
  return false
}

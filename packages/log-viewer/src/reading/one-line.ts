/** One line of plain text about the recorded arguments of a call. They may be cut, and may be anything. */
export function oneLine(inputJson: string | null): string {
  if (inputJson === null) return ''
  return cutAt(shown(inputJson).replaceAll(/\s+/g, ' ').trim(), longestLine)
}

function shown(json: string): string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // Cut in the middle: the beginning says enough.
    return json.replace(/^\{/, '')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return plain(value)
  const fields = new Map(Object.entries(value))
  if (fields.get('$truncated') === true && typeof fields.get('head') === 'string') {
    return shown(`${String(fields.get('head'))} …`)
  }
  const command = fields.get('cmd')
  const args = fields.get('args')
  if (typeof command === 'string')
    return [command, ...(Array.isArray(args) ? args : [])].map(plain).join(' ')
  // What a call works on says more than how.
  const first = subjects.find((name) => typeof fields.get(name) === 'string')
  const rest = [...fields].filter(([name]) => name !== first)
  return [
    ...(first === undefined ? [] : [plain(fields.get(first))]),
    ...rest.map(([name, field]) => `${name}: ${plain(field)}`),
  ].join(', ')
}

const subjects = ['path', 'file', 'url', 'pattern', 'query', 'name', 'id']

function plain(value: unknown): string {
  if (typeof value === 'string') return cutAt(value, longestLine)
  return cutAt(JSON.stringify(value) ?? '', longestLine)
}

function cutAt(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

const longestLine = 200

const briefLength = 500

/**
 * Recorded arguments or output, as far as a message has room for them. What is cut off is not kept in memory by what is
 * returned.
 */
export function brief(json: string | null): string {
  if (json === null) return 'not recorded'
  if (json.length <= briefLength) return json
  const head = json.slice(0, briefLength).replace(/[\ud800-\udbff]$/, '')
  // A slice keeps the whole text alive.
  return Buffer.from(`${head}…`, 'utf16le').toString('utf16le')
}

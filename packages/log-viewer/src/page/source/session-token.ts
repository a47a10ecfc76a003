const storageKey = 'smithers-viewer-token'

/**
 * The token of the printed address. It moves from the fragment, which history and screenshots would keep, to the storage
 * of this tab, so that a reload still has it. Null when this tab never had one.
 */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null && given !== '') {
    sessionStorage.setItem(storageKey, given)
    history.replaceState(null, '', location.pathname)
  }
  return sessionStorage.getItem(storageKey)
}

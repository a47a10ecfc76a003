import { useEffect, useState } from 'preact/hooks'

/** The time, which moves on while `everyMs` is given. Milliseconds since the epoch. */
export function useNow(everyMs: number | null): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (everyMs === null) return undefined
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}

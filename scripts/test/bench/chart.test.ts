import { describe, expect, test } from 'vitest'
import { chartOf, palettes } from '../../bench/chart.ts'
import { amounts, ratios } from './sample-run.ts'

describe('the picture of a table', () => {
  const picture = chartOf(ratios)

  test('has a title, a description of every row, and the role of an image', () => {
    expect(picture).toMatch(/^<svg [^>]*role="img" aria-labelledby="title desc"/u)
    expect(picture).toContain('<title id="title">Reads &amp; writes &lt;fast&gt;</title>')
    const [, description] = /<desc id="desc">(.*?)<\/desc>/su.exec(picture) ?? []
    expect(description).toContain('read: 0.50 ×, goal ≤ 0.6 ×')
    expect(description).toContain('write: 1.50 ×, missed: ≤ 1.2 ×')
  })

  test('says in words and in stripes which goal is missed', () => {
    expect(picture.match(/fill="url\(#missed\)"/gu)).toHaveLength(1)
    expect(textsOf(picture)).toContain('1.50 ×, missed: ≤ 1.2 ×')
  })

  test('labels every bar with text', () => {
    for (const [table, linesOfLegend] of [
      [ratios, 2],
      [amounts, 1],
    ] as const) {
      const texts = textsOf(chartOf(table))
      const bars = chartOf(table).match(/<rect class="(?:ours|peer)"/gu)
      expect(bars).toHaveLength(table.rows.length)
      // The title, and two for each bar.
      expect(texts).toHaveLength(1 + 2 * table.rows.length + linesOfLegend)
    }
  })

  test('has lengths in proportion to the ratios', () => {
    const [first = 0, second = 0] = barLengths(picture)
    expect(second / first).toBeCloseTo(3, 1)
  })

  test('has a logarithmic scale where the values span decades, and says so', () => {
    const logarithmic = chartOf(amounts)
    const [large = 0, small = 0] = barLengths(logarithmic)
    expect(large / small).toBeLessThan(100)
    expect(textsOf(logarithmic).at(-1)).toContain('Logarithmic scale.')
    expect(textsOf(picture).at(-1)).not.toContain('Logarithmic')
  })

  test('keeps its texts within its edges', () => {
    // A letter of 14 pixels is half as wide, and a little more in bold.
    for (const table of [ratios, amounts])
      for (const [, x, text = ''] of chartOf(table).matchAll(
        /<text[^>]* x="([\d.]+)"[^>]*>([^<]*)</gu,
      ))
        expect(Number(x) + text.length * 7.6, text).toBeLessThan(640)
  })
})

describe('the look of a picture', () => {
  const picture = chartOf(ratios)

  test('needs nothing from elsewhere', () => {
    const addresses = picture.match(/https?:\/\/[^\s"]+/gu)
    expect(addresses).toEqual(['http://www.w3.org/2000/svg'])
    expect(picture).not.toMatch(/@import|@font-face|<image|<script|href=/u)
    expect(picture).toContain('font:14px system-ui')
  })

  test('brings its own background, on which text and bars have enough contrast in both themes', () => {
    expect(picture).toMatch(/<rect class="panel"/u)
    expect(picture).toContain('@media(prefers-color-scheme:dark)')
    for (const { panel, text, muted, ours, peer, missed } of Object.values(palettes)) {
      for (const colour of [text, muted, missed])
        expect(contrast(colour, panel)).toBeGreaterThan(4.5)
      for (const colour of [ours, peer]) expect(contrast(colour, panel)).toBeGreaterThan(3)
    }
  })
})

function textsOf(picture: string): string[] {
  return [...picture.matchAll(/<text[^>]*>([^<]*)<\/text>/gu)].map(([, text = '']) => text)
}

function barLengths(picture: string): number[] {
  return [...picture.matchAll(/<rect class="(?:ours|peer)"[^>]* width="([\d.]+)"/gu)].map(
    ([, width]) => Number(width),
  )
}

/** As the accessibility guidelines define it. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

import { pageOf } from './site-page.ts'
import { base } from './site.ts'

/** A page written for the site alone. */
export interface GeneratedPage {
  readonly slug: string
  readonly text: string
}

const section = /^## (?<code>[A-Z_]+)$/mu

/** A page for each code of docs/errors.md, and a list of them. */
export function errorPages(page: string): readonly GeneratedPage[] {
  const [introduction = '', ...rest] = page.split(/^(?=## [A-Z_]+$)/mu)
  const codes = rest.map((text) => {
    const code = section.exec(text)?.groups?.['code'] ?? ''
    const body = text.replace(section, '').trim()
    const when = /^\*\*When\.\*\* (.*)$/mu.exec(body)?.[1] ?? ''
    return { code, when, body }
  })
  const rows = codes.map(
    ({ code, when }) => `| [\`${code}\`](${base}errors/${code.toLowerCase()}/) | ${when} |`,
  )
  const list = ['| code | when |', '| --- | --- |', ...rows].join('\n')
  return [
    {
      slug: 'errors/index',
      text: pageOf(
        {
          title: 'Error codes',
          description: 'Every code, when it occurs and what to do.',
          sidebar: { order: 0, label: 'All codes' },
          editUrl: false,
        },
        `${introductionOf(introduction)}\n\n${list}`,
      ),
    },
    ...codes.map(({ code, when, body }, order) => ({
      slug: `errors/${code.toLowerCase()}`,
      text: pageOf(
        { title: code, description: when, sidebar: { order: order + 1 }, editUrl: false },
        body
          .replaceAll(/^\*\*(When|What to do)\.\*\* /gmu, (_, name) =>
            name === 'When' ? '## When\n\n' : '## What to do\n\n',
          )
          .replace(/^(Calls that end|Messages?:|The message:)/mu, '## Examples\n\n$1'),
      ),
    })),
  ]
}

// How the page is made concerns its authors, not its readers.
function introductionOf(text: string): string {
  return text
    .replace(/^# .*$/mu, '')
    .replace(/ `pnpm docs:errors` writes .*$/mu, ' In an example, … stands for a value.')
    .trim()
}

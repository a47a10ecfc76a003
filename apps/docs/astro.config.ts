import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import linksValidator from 'starlight-links-validator'
import llmsTxt from 'starlight-llms-txt'
import { base, repositoryUrl, siteUrl } from './scripts/site.ts'

interface Section {
  label: string
  collapsed: boolean
  items: { autogenerate: { directory: string } }[]
}

function section(label: string, directory: string, collapsed = false): Section {
  return { label, collapsed, items: [{ autogenerate: { directory } }] }
}

const config: ReturnType<typeof defineConfig> = defineConfig({
  site: siteUrl.origin,
  base,
  trailingSlash: 'always',
  integrations: [
    starlight({
      title: 'Smithers tools',
      description:
        'Typed, sandboxed, durable, observable tools for AI SDK agents, as small packages.',
      logo: { src: './src/assets/logo.svg' },
      favicon: '/favicon.svg',
      social: [{ icon: 'github', label: 'Source', href: repositoryUrl }],
      customCss: ['./src/styles/site.css'],
      head: [{ tag: 'script', attrs: { src: `${base}name-code-blocks.js`, defer: true } }],
      expressiveCode: {
        // The themes' own colours of a terminal are too faint on their backgrounds.
        customizeTheme: (theme) => {
          const light = theme.type === 'light'
          theme.colors['terminal.ansiGreen'] = light ? '#05603f' : '#3fe088'
          theme.colors['terminal.ansiRed'] = light ? '#a51f1d' : '#ff8a87'
          theme.colors['terminal.ansiYellow'] = light ? '#6b5200' : '#e8d27c'
          theme.colors['terminal.ansiBrightBlack'] = light ? '#4c5566' : '#a9b4c6'
          return theme
        },
      },
      lastUpdated: false,
      plugins: [
        linksValidator({ errorOnRelativeLinks: true }),
        llmsTxt({
          projectName: 'Smithers tools',
          description:
            'Typed, sandboxed, durable, observable tools for AI SDK agents, as small packages. The built-in tools stay inside one directory, and every call is written to a log before it runs. After a crash or a retry the log says which calls took effect and which may have, and each call keeps its idempotency key.',
          // What the short text leaves out; the full one has every page.
          exclude: [
            'architecture{,/**}',
            'benchmarks{,/**}',
            'comparison{,/**}',
            'errors/**',
            'project/**',
            'reference/{api,api/**,options,command-line-json}',
            'security/{native,report,threat-model}',
            'tools/{coding-tools,failures}',
          ],
        }),
      ],
      components: { PageTitle: './src/components/PageTitle.astro' },
      sidebar: [
        section('Start', 'start'),
        section('Guides', 'guides'),
        section('Tools', 'tools'),
        section('Errors', 'errors', true),
        section('Security', 'security', true),
        {
          label: 'Reference',
          collapsed: true,
          items: [
            { slug: 'reference/options' },
            { slug: 'reference/command-line' },
            { slug: 'reference/command-line-json' },
            { slug: 'reference/observability' },
            section('Packages', 'reference/packages', true),
            section('API', 'reference/api', true),
            section('Specification', 'reference/specification', true),
          ],
        },
        section('Architecture', 'architecture', true),
        section('Benchmarks', 'benchmarks', true),
        section('Comparison', 'comparison', true),
        section('Project', 'project', true),
      ],
    }),
  ],
})

// oxlint-disable-next-line import/no-default-export -- Astro reads it
export default config

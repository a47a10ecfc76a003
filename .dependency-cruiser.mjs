// The floors of the house. In each package a room (a folder under src, or a file directly in it) imports only rooms
// further down its list; a package imports only the packages named for it. docs/architecture.md describes the rooms.

/** Top floor first. A name ending in "/" is a folder, any other a file directly under src; "a b" share a floor. */
const rooms = {
  'tool-core': [
    'index log',
    'define/',
    'run/',
    'call/',
    'gates/',
    'approvals/',
    'context/',
    'journal/',
    'history/',
    'contract/',
    'json/',
    'log/',
    'async/',
    'errors/',
  ],
  sandbox: [
    'index options',
    'create-sandbox',
    'open-sandbox',
    'explain-action sandbox-options',
    'sandbox',
    'ai-sdk-session/',
    'process/',
    'isolation/',
    'path-rules/',
    'files/',
    'command-policy/',
    'egress/',
    'options/',
    'errors/',
  ],
  'builtin-tools': [
    'index',
    'toolkit',
    'tools/',
    'command/',
    'search/',
    'patch/',
    'read/',
    'bundle/',
    'model/',
  ],
  'mcp-server': [
    'index program',
    'cli/',
    'http/ stdio/',
    'create-mcp-server',
    'session/',
    'approvals/',
    'calls/',
    'log/',
    'tools/',
    'options/',
    'text/ version',
  ],
  workflow: [
    'index jsx-runtime jsx-dev-runtime',
    'run/',
    'define/',
    'schedule/',
    'tree/',
    'task/',
    'values/',
    'events/',
    'errors/',
  ],
  'log-viewer': [
    'index',
    'serve-viewer',
    'create-viewer',
    'http/ text/',
    'export/',
    'search/',
    'reading/',
    'copy/',
    'page-files',
    'page/',
    'api/',
  ],
  cli: [
    'index smithers',
    'run-process',
    'program',
    'commands/',
    'runs/',
    'terminal/',
    'documents/',
    'log/',
    'sandbox/',
    'errors/',
  ],
}

/** Of our own packages, the ones that a package may import at run time. */
const packages = {
  'tool-core': [],
  sandbox: [],
  'builtin-tools': ['tool-core', 'sandbox'],
  'log-memory': ['tool-core'],
  'log-sqlite': ['tool-core'],
  'log-postgres': ['tool-core'],
  otel: ['tool-core'],
  'log-viewer': ['tool-core'],
  worker: ['tool-core', 'workflow', 'log-postgres'],
  'engine-dbos': ['tool-core'],
  'mcp-server': ['tool-core', 'sandbox', 'builtin-tools', 'log-sqlite', 'log-postgres'],
  cli: [
    'tool-core',
    'sandbox',
    'builtin-tools',
    'workflow',
    'log-sqlite',
    'log-postgres',
    'log-viewer',
    'mcp-server',
    'worker',
  ],
  'log-conformance': ['tool-core'],
  // log-sqlite only for the default log, as an optional peer that the first run without a log loads.
  workflow: ['tool-core', 'log-sqlite'],
  'tool-adapters': ['tool-core', 'context-tools'],
  'context-tools': ['tool-core'],
  orchestrator: [
    'builtin-tools',
    'context-tools',
    'log-memory',
    'log-sqlite',
    'tool-adapters',
    'tool-core',
    'workflow',
  ],
}

const forbidden = [
  {
    name: 'no-circles',
    comment:
      'Files do not import each other in a circle, type imports included. Move what both need to a room below.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  ...Object.entries(rooms).flatMap(([name, floors]) => floorRules(name, floors)),
  ...Object.entries(packages).map(([name, allowed]) => ({
    name: `packages-below-${name}`,
    comment:
      allowed.length === 0
        ? `@smithers/${name} imports no other package of this repository.`
        : `@smithers/${name} imports only these packages of this repository: ${allowed.join(', ')}.`,
    severity: 'error',
    from: { path: `^packages/${name}/src/` },
    to: { path: '^packages/', pathNot: `^packages/(?:${[name, ...allowed].join('|')})/` },
  })),
]

function floorRules(name, floors) {
  const patternOf = (floor) =>
    `^packages/${name}/src/(?:${floor
      .split(' ')
      .map((room) => (room.endsWith('/') ? room : `${room}[.]tsx?$`))
      .join('|')})`
  const named = floors.map(patternOf)
  return [
    {
      name: `${name}-has-no-other-rooms`,
      comment: `Every file of ${name} is in a room of the list in .dependency-cruiser.mjs: add a new room there, with what it is for in docs/architecture.md.`,
      severity: 'error',
      from: { path: `^packages/${name}/src/`, pathNot: named },
      to: {},
    },
    ...floors.slice(1).map((floor, index) => ({
      name: `${name}-floor-${floor.split(' ')[0].replace('/', '')}`,
      comment: `${floor} of ${name} imports only the rooms below it: ${floors.slice(index + 2).join(' ') || 'none'}. Not the rooms above: ${floors.slice(0, index + 1).join(' ')}.`,
      severity: 'error',
      from: { path: named[index + 1] },
      to: { path: named.slice(0, index + 1) },
    })),
  ]
}

/** @type {import('dependency-cruiser').IConfiguration} */
const configuration = {
  forbidden,
  options: {
    includeOnly: '^packages/[^/]+/src/',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['@smithers/source', 'import', 'types'],
      exportsFields: ['exports'],
    },
  },
}

export default configuration

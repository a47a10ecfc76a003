// The floors of the house: in each package a folder imports only folders further down its list, and a package imports
// only the packages named beside it. `docs/architecture.md` shows the same lists with one line a room.

/** Top floor first. A file directly under `src` counts by its name, without the ending. */
const floors = {
  'tool-core': [
    ['index', 'log', 'memory-log'],
    ['define'],
    ['run'],
    ['call'],
    ['gates'],
    ['approvals'],
    ['context'],
    ['journal'],
    ['history'],
    ['contract'],
    ['log/'],
    ['json'],
    ['async'],
    ['errors'],
  ],
  sandbox: [
    ['index', 'create-sandbox', 'options'],
    ['open-sandbox'],
    ['explain-action', 'sandbox-options'],
    ['sandbox'],
    ['ai-sdk-session'],
    ['process/'],
    ['isolation'],
    ['path-rules'],
    ['files'],
    ['command-policy'],
    ['options/'],
    ['errors'],
  ],
}
export default {}

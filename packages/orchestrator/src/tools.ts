// The built-in tools alone.
export {
  bash,
  createBuiltinTools,
  createCommandTools,
  createLiveBash,
  edit,
  grep,
  read,
  tools,
  write,
} from '@smithers/builtin-tools'

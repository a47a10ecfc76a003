// The built-in tools alone.
export {
  bash,
  codingTools,
  createBuiltinTools,
  createCommandTools,
  createLiveBash,
  edit,
  glob,
  grep,
  read,
  repairToolCall,
  replace,
  tools,
  write,
} from '@smithers/builtin-tools'

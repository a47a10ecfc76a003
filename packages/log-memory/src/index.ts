export { createMemoryLog } from '@smithers/tool-core/memory-log'
export type { MemoryLog, MemoryLogOptions } from '@smithers/tool-core/memory-log'

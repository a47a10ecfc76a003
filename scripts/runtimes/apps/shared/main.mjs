import { useTools } from './use-tools.mjs'

for (const line of await useTools()) console.log(line)

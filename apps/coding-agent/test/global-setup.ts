export { setup, teardown } from '../../../packages/log-postgres/test/global-setup.ts'

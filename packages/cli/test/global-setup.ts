export { setup, teardown } from '../../log-postgres/test/global-setup.ts'

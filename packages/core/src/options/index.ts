// Options are types with defaults. Light: it loads nothing of the client.
export { checkNames, checkRequestNames, checkWhole } from './check-names.ts';

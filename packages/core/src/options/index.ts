// Options of functions. Light: it loads nothing of the client.

export { checkOption } from './check.ts';
export { checkNames, checkRequestNames } from './check-names.ts';
export { checkWhole } from './check-whole.ts';
export { defineOptions, type OptionsOf, type OptionTable, type ReadOf } from './define-options.ts';
export type { Entries, Entry, Filled, InnerTable, Needed, ReadValues, ValuesOf } from './entry.ts';
export { type Option, option } from './option.ts';

// Options of functions: one table has their types, checks, defaults and comments. Light: it loads nothing of the client.
export { checkOption } from './check.ts';
export { defineOptions, type OptionsOf, type OptionTable, type ReadOf } from './define-options.ts';
export type { Entries, Entry, Filled, InnerTable, Needed, ReadValues, ValuesOf } from './entry.ts';
export { type Option, option } from './option.ts';

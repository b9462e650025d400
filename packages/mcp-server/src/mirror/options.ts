import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';

/** The options of a local copy. */
export const mirrorOptions = defineOptions({
  /** The DuckDB file. It is made when it does not exist. */
  file: option.string().required(),
  /** Time between two refreshes in the background. Default `10m`. */
  every: option.duration().default('10m'),
});

/** A local copy of all calls, which questions are answered from. Needs the package `@call-attribution/warehouse`. */
export interface MirrorOptions extends OptionsOf<typeof mirrorOptions> {}
/** The same with the defaults. */
export interface MirrorSettings extends ReadOf<typeof mirrorOptions> {}

import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { serviceDefaults } from '../defaults.ts';

/** The points that the text of the API leaves open. */
export const shapeOptions = defineOptions({
  /** A single record as an object, or in an array of one. Default `object`. */
  singleAs: option.oneOf('object', 'array').default(serviceDefaults.singleAs),
  /**
   * The v2 count: `object` `{"count":18}`, `number` `18`, `text` `"18"`, `array` `[{"count":18}]`, or `header`: `[]`, with the
   * total in the header only. Default `object`.
   */
  countAs: option.oneOf('object', 'number', 'text', 'array', 'header').default(serviceDefaults.countAs),
  /** Rows of a page when the request names none. Default 100. */
  defaultRows: option.whole(1).default(serviceDefaults.defaultRows),
  /** Most rows of one page. Default 1,000. */
  maxRows: option.whole(1).default(serviceDefaults.maxRows),
  /** A request for more rows is refused with 400 (`reject`) or gets `maxRows` rows (`clamp`). Default `reject`. */
  rowsOver: option.oneOf('reject', 'clamp').default(serviceDefaults.rowsOver),
});

/** The points that the text of the API leaves open, as options. */
export interface ShapeOptions extends OptionsOf<typeof shapeOptions> {}
/** The points that the text of the API leaves open. */
export interface Shape extends ReadOf<typeof shapeOptions> {}

// The table of measures alone, for help and completion, which load nothing else.
import { measures as all, type Measure } from './question/measures.ts';

export { type Measure, measureForm, measureForms } from './question/measures.ts';

/** All measures. */
export const measures: readonly Measure[] = all;

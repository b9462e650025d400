import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { callAxis } from '../calls/call-axis.ts';
import { type StreamOptions, streamOptions } from '../calls/options.ts';
import { naiveTime } from '../option-kinds.ts';
import type { BoundStyle } from '../reader/span.ts';

/** A part of a query, and how many records it had when the plan was made. */
export interface PlannedSlice {
  /** First time of the slice, `YYYY-MM-DD HH:MM:SS`; null when it is open below. */
  readonly from: string | null;
  /** First time after the slice. */
  readonly to: string;
  /** Its records by the totals of the server. */
  readonly total: number;
}

/** A query cut into slices. */
export interface SlicePlan {
  /** How this server reads upper ends; for `sliceFilter`, and for the option `window.bounds` of the streams of the slices. */
  readonly bounds: BoundStyle;
  /** Where the plan begins; null when it is open below. */
  readonly from: string | null;
  /** Where it ends, not included. */
  readonly to: string;
  /** The slices in order of time, each beginning where the one before ends. */
  readonly slices: readonly PlannedSlice[];
  /** Their records. */
  readonly total: number;
  /** Requests that the plan took. */
  readonly requests: number;
}

/** How far a plan has come. */
export interface PlanProgress {
  /** Slices so far. */
  readonly slices: number;
  /** Their records. */
  readonly planned: number;
  /** Records in all. */
  readonly total: number;
  /** Requests so far. */
  readonly requests: number;
}

const { filter, signal, timeout, retry, headers } = streamOptions.entries;

/** The options of `planSlices`. */
export const planSlicesOptions = defineOptions({
  ...{ filter, signal, timeout, retry, headers },
  /** Where the plan begins, `YYYY-MM-DD HH:MM:SS`. Default: with the first call. */
  from: naiveTime(callAxis.step).or(option.only(null)),
  /** Where it ends, not included. Take a time by which all calls have arrived, such as 14 hours ago in UTC. */
  to: naiveTime(callAxis.step).required(),
  /** Records that a slice should have. It gets 0.2 to 1.3 times as many, and more only where one second holds more. */
  records: option.whole(1).required(),
  /** `month`: no slice reaches across the end of a month, where smaller ones may be left. Default `none`. */
  by: option.oneOf('month', 'none').default('none'),
  /** Called after each slice. */
  onProgress: option.callback<(progress: PlanProgress) => void>().default(() => {}),
});

/** Settings of `planSlices`. `timeout`, `retry` and `headers` are those of every request. */
export interface PlanSlicesOptions
  extends Pick<StreamOptions, 'filter' | 'signal' | 'timeout' | 'retry' | 'headers'>,
    OptionsOf<typeof planSlicesOptions> {}
/** The same with the defaults. */
export interface PlanSlicesSettings extends ReadOf<typeof planSlicesOptions> {}

import type { LaneValue } from './values.ts';

// What happens to a lane. Each function takes a value of the board and returns the next one.

/** What a committed parcel adds to the sums of its lane. */
export interface ParcelSums {
  readonly records: number;
  readonly requests: number;
  readonly bytes: number;
}

/** A parcel that is to be read again, with what it added to the sums. */
export interface ReopenedParcel extends Omit<ParcelSums, 'requests'> {
  readonly index: number;
}

/** Lane `k` of an account with so many parcels, before anything was read. */
export const newLane = (k: number, parcels: number): LaneValue => ({
  next: k,
  parcels,
  again: [],
  aside: [],
  by: null,
  notBefore: 0,
  tries: 0,
  why: null,
  failingSince: 0,
  done: 0,
  records: 0,
  requests: 0,
  bytes: 0,
});

/** The parcel at hand; null at the end of the lane. */
export const parcelAt = ({ again, next, parcels }: LaneValue): number | null =>
  again[0] ?? (next < parcels ? next : null);

/** A worker takes the lane. */
export const take = (lane: LaneValue, by: string): LaneValue => ({ ...lane, by });

/** The lane is given back as it is. */
export const giveBack = (lane: LaneValue): LaneValue => ({ ...lane, by: null });

/** A parcel was committed, and the lane is given back. `lanes`: those of an account. */
export const advance = (lane: LaneValue, index: number, lanes: number, sums: ParcelSums): LaneValue =>
  passes(lane, index)
    ? {
        ...pass(lane, index, lanes),
        done: lane.done + 1,
        records: lane.records + sums.records,
        requests: lane.requests + sums.requests,
        bytes: lane.bytes + sums.bytes,
      }
    : giveBack(lane);

/** A parcel is taken out of the work, and the lane is given back: it continues with the next one. */
export const setParcelAside = (lane: LaneValue, index: number, lanes: number, code: string): LaneValue =>
  passes(lane, index)
    ? { ...pass(lane, index, lanes), aside: [...lane.aside, [index, code] as const] }
    : giveBack(lane);

/** Why a parcel is tried later, and whether it counts as one of its tries. */
export interface LaneTrouble {
  readonly code: string;
  readonly isTry: boolean;
  /** Board time of the failure. */
  readonly at: number;
  /** Board time of the next try. */
  readonly notBefore: number;
}

/** The parcel at hand failed and is tried later; the lane is given back. */
export const later = (lane: LaneValue, { code, isTry, at, notBefore }: LaneTrouble): LaneValue => ({
  ...lane,
  by: null,
  notBefore,
  tries: lane.tries + (isTry ? 1 : 0),
  why: code,
  failingSince: lane.failingSince === 0 ? at : lane.failingSince,
});

/**
 * Parcels that were committed or set aside are to be read again, before what is left. Those still to come, or of another lane,
 * are left out.
 */
export function reopen(
  lane: LaneValue,
  k: number,
  lanes: number,
  parcels: readonly ReopenedParcel[],
): LaneValue {
  const open = parcels.filter(
    ({ index }, i) =>
      index % lanes === k &&
      index < lane.next &&
      index < lane.parcels &&
      !lane.again.includes(index) &&
      parcels.findIndex((other) => other.index === index) === i,
  );
  const isAside = new Set(lane.aside.map(([index]) => index));
  const counted = open.filter(({ index }) => !isAside.has(index));
  const opened = new Set(open.map(({ index }) => index));
  return {
    ...lane,
    again: [...lane.again, ...opened],
    aside: lane.aside.filter(([index]) => !opened.has(index)),
    notBefore: open.length > 0 ? 0 : lane.notBefore,
    // The board may have lost what was counted before.
    done: Math.max(0, lane.done - counted.length),
    records: Math.max(0, lane.records - sum(counted.map(({ records }) => records))),
    bytes: Math.max(0, lane.bytes - sum(counted.map(({ bytes }) => bytes))),
  };
}

/** The plan was continued: it has so many parcels now. */
export const grow = (lane: LaneValue, parcels: number): LaneValue => ({
  ...lane,
  parcels: Math.max(lane.parcels, parcels),
});

const passes = ({ again, next, parcels }: LaneValue, index: number): boolean =>
  again.includes(index) || (index === next && next < parcels);

/** The parcel is no longer at hand. */
const pass = (lane: LaneValue, index: number, lanes: number): LaneValue => ({
  ...lane,
  again: lane.again.filter((other) => other !== index),
  next: index === lane.next ? lane.next + lanes : lane.next,
  by: null,
  notBefore: 0,
  tries: 0,
  why: null,
  failingSince: 0,
});

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

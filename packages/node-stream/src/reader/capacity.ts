/**
 * How many records a slice may hold: the rows requested, or the fewer that the server returns. A short page that was seen
 * once may be an exception, so the figure grows back until the same length is seen again.
 */
export interface Capacity {
  /** Rows to request. */
  readonly requested: number;
  /** Pages a slice may have. */
  readonly pages: number;
  /** Items of one range that the source gives at all; it may call a longer list just as long. Absent when there is no such limit. */
  readonly cap?: number;
  /** Rows that a page is expected to have. */
  readonly rows: number;
  /** The length of the last page that was shorter than requested; null when there was none. */
  readonly clamp: number | null;
  /** That length was seen more than once. */
  readonly isSure: boolean;
  /** The part of capacity to aim at: it creeps up while slices fit, and falls back when one overflows. */
  readonly aimAt: number;
}

/** The capacity before anything is known of the server. */
export function capacityOf(requested: number, pages: number, cap?: number): Capacity {
  return {
    requested,
    pages,
    ...(cap === undefined ? {} : { cap }),
    rows: requested,
    clamp: null,
    isSure: false,
    aimAt: 0.8,
  };
}

/** Records one slice may hold; `isSingle`: in a single page. */
export function recordsIn({ rows, pages, cap }: Capacity, isSingle: boolean): number {
  const most = Math.max(1, Math.floor(rows)) * (isSingle ? 1 : pages);
  return cap === undefined ? most : Math.max(1, Math.min(most, cap - 1));
}

/** Whether a list may be longer than the source gives. */
export const isCapped = ({ cap }: { readonly cap?: number | undefined }, total: number | null): boolean =>
  cap !== undefined && total !== null && total >= cap;

/** What a first page of `count` records teaches, out of a list of `total`. */
export function capacityAfter(capacity: Capacity, count: number, total: number): Capacity {
  if (count === total) return fitted(capacity, count);
  return count > 0 ? overflowed(capacity, count) : capacity;
}

function overflowed(capacity: Capacity, count: number): Capacity {
  const aimAt = Math.max(0.7, capacity.aimAt - 0.05);
  if (count >= capacity.requested) return { ...capacity, aimAt, rows: capacity.requested };
  return { ...capacity, aimAt, isSure: capacity.clamp === count, clamp: count, rows: count };
}

function fitted(capacity: Capacity, count: number): Capacity {
  const { requested, rows, clamp } = capacity;
  const aimAt =
    count > recordsIn(capacity, false) / 2 ? Math.min(0.94, capacity.aimAt + 0.005) : capacity.aimAt;
  if (clamp === null) return { ...capacity, aimAt };
  const isSure = capacity.isSure && count <= clamp;
  return {
    ...capacity,
    aimAt,
    isSure,
    rows: isSure ? rows : Math.min(requested, Math.max(rows * 1.25, count)),
  };
}

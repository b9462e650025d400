import { crc32 } from 'node:zlib';
import type { RawPage } from '@call-attribution/core';
import type { Region } from './region.ts';
import type { Span } from '../query/time-slice.ts';

/** Why a pass over a slice was given up. */
export type Trouble =
  | 'wrong_page'
  | 'moved_total'
  | 'short_page'
  | 'long_page'
  | 'repeated_sid'
  | 'changed_since_checkpoint';

/** A slice while it is read. */
export interface SliceRead {
  readonly span: Span;
  readonly sealed: boolean;
  /** Where the slice was cut from, and what was expected of it. */
  readonly cutFrom: { region: Region; expected: number; width: number } | null;
  /** Whether the region knows what this slice held. */
  isLearnt: boolean;
  /** What went out in passes that failed, with the checksum of its bytes. Slices of one page need none. */
  readonly sent: Map<string, number>;
  /** Passes over the slice, the running one included. */
  passes: number;
  pass: Pass;
  /** Where an earlier run stopped inside this slice. */
  resume: { readonly taken: number; readonly mark: number } | null;
}

/** One walk over the pages of a slice. */
export interface Pass {
  rows: number;
  total: number | null;
  count: number;
  readonly sids: Set<string>;
  /** Checksum of the sids seen, in order. */
  mark: number;
}

/** What a page adds: the records to hand on (null: all of them), or why the pass is void. */
export type Sifted =
  | { readonly trouble: Trouble }
  | {
      readonly trouble?: undefined;
      readonly keep: number[] | null;
      readonly again: number;
      readonly changed: number;
    };

/** A pass that has seen nothing yet. */
export function newPass(): Pass {
  return { rows: 0, total: null, count: 0, sids: new Set(), mark: 0 };
}

/** Continues the checksum over sids in order. */
export function markOf(mark: number, sid: string): number {
  return crc32(sid, mark);
}

/** Checks one page of a pass and picks the records that did not go out before. Nothing of a page in trouble goes out. */
export function sift(slice: SliceRead, page: RawPage, index: number, sids: readonly string[]): Sifted {
  const { pass } = slice;
  const trouble = pageTrouble(slice, page, index);
  if (trouble !== null) return { trouble };
  const before = pass.sids.size;
  for (const sid of sids) pass.sids.add(sid);
  if (pass.sids.size !== before + sids.length) return { trouble: 'repeated_sid' };
  pass.count += sids.length;
  if (slice.resume !== null && reachesNot(pass, slice.resume.taken, sids.length))
    return { trouble: 'changed_since_checkpoint' };
  if (pass.count === pass.total && index === 0 && slice.sent.size === 0 && slice.resume === null) {
    return { keep: null, again: 0, changed: 0 };
  }
  return pick(slice, page, sids);
}

/** Whether a slice holds fewer records than an earlier run took of it: then the place says nothing any more. */
function reachesNot({ total, count, rows }: Pass, taken: number, got: number): boolean {
  return total === null ? got < rows && count < taken : total < taken;
}

function pageTrouble({ pass, sealed }: SliceRead, page: RawPage, index: number): Trouble | null {
  const total = page.range?.total ?? null;
  if (page.count > 0 && page.range !== null && page.range.first !== index * pass.rows + 1)
    return 'wrong_page';
  if (index > 0 && total !== pass.total) {
    // The tail of an open end may grow while it is walked: each record that came is still to be met.
    if (sealed || total === null || pass.total === null || total < pass.total) return 'moved_total';
  }
  pass.total = total;
  if (total === null) return null;
  const due = Math.min(pass.rows, Math.max(0, total - index * pass.rows));
  if (page.count === due) return null;
  return page.count < due ? 'short_page' : 'long_page';
}

function pick(slice: SliceRead, page: RawPage, sids: readonly string[]): Sifted {
  const { pass, sent, resume } = slice;
  const borders = page.slices();
  const keep: number[] = [];
  let changed = 0;
  let place = pass.count - sids.length;
  for (const [i, sid] of sids.entries()) {
    place += 1;
    pass.mark = markOf(pass.mark, sid);
    const border = borders[i] as { start: number; end: number };
    const sum = crc32(page.bytes.subarray(border.start, border.end));
    const known = sent.get(sid);
    sent.set(sid, sum);
    if (resume !== null && place <= resume.taken) {
      if (place === resume.taken && pass.mark !== resume.mark) return { trouble: 'changed_since_checkpoint' };
      continue;
    }
    if (known === sum) continue;
    if (known !== undefined) changed += 1;
    keep.push(i);
  }
  return { keep, again: sids.length - keep.length, changed };
}

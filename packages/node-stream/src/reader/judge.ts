import { crc32 } from 'node:zlib';
import type { PageView } from './page-view.ts';
import { checksumIn, deliveredBefore, type Seen, withPage } from './seen.ts';
import type { Pass, SliceWork } from './work.ts';

/** Why a pass over a slice was given up. */
export type Trouble =
  | 'wrong_page'
  | 'moved_total'
  | 'short_page'
  | 'long_page'
  | 'repeated_id'
  | 'changed_since_checkpoint';

/** What a page adds to its pass: the records to deliver (null: all of them), or why the pass is void. */
export type Judgement =
  | { readonly trouble: Trouble; readonly total: number | null; readonly got: number }
  | {
      readonly trouble: null;
      readonly pass: Pass;
      readonly ids: readonly string[];
      readonly keep: readonly number[] | null;
      /** Records met again and left out; records that changed since they were delivered. */
      readonly again: number;
      readonly changed: number;
    };

/** Continues the checksum over ids in order. */
export function addId(checksum: number, id: string): number {
  return crc32(id, checksum);
}

/**
 * Checks one page of a pass and picks the records that were not delivered before. A page in trouble delivers none.
 * `keepsFirst`: records that were delivered and have changed since are not picked again.
 */
export function judgePage(
  slice: SliceWork,
  page: PageView,
  index: number,
  {
    keepsFirst,
    cap = Number.POSITIVE_INFINITY,
  }: { readonly keepsFirst: boolean; readonly cap?: number | undefined },
): Judgement {
  const { total } = page;
  const trouble = countTrouble(slice, page, index, cap);
  if (trouble !== null) return { trouble, total, got: slice.pass.count };
  const ids = page.ids();
  const { seen } = slice.pass;
  const fresh = new Set(ids.filter((id) => checksumIn(seen, id) === undefined)).size;
  // Without totals nothing will prove the list whole: it is read once, and what comes again is left out.
  const isProvable = total !== null;
  const count = slice.pass.count + (isProvable ? fresh : ids.length);
  if (isProvable && fresh !== ids.length) return { trouble: 'repeated_id', total, got: count };
  const pass = { ...slice.pass, total, count };
  if (isBehind(slice, pass, page)) return { trouble: 'changed_since_checkpoint', total, got: count };
  const isAllAndNew = count === total && index === 0 && slice.sent.length === 0 && slice.resume === null;
  if (isAllAndNew) return { trouble: null, pass, ids, keep: null, again: 0, changed: 0 };
  return pick(slice, pass, page, { ids, keepsFirst });
}

/** Whether a slice holds fewer records than an earlier run took of it: then its place says nothing any more. */
function isBehind({ resume }: SliceWork, { total, count, rows }: Pass, page: PageView): boolean {
  if (resume === null) return false;
  const isEnd = page.next === undefined ? page.count < rows : page.next === null;
  return total === null ? isEnd && count < resume.taken : total < resume.taken;
}

function countTrouble(
  { pass, isSealed, begin }: SliceWork,
  page: PageView,
  index: number,
  cap: number,
): Trouble | null {
  const { total } = page;
  if (page.count > 0 && page.first !== null && page.first !== index * pass.rows + 1) return 'wrong_page';
  if (index > begin && total !== pass.total) {
    // The end of an open slice may grow while it is read: each record that came is still to be met.
    if (isSealed || total === null || pass.total === null || total < pass.total) return 'moved_total';
  }
  if (total === null) return null;
  if (page.next !== undefined) {
    const count = pass.count + page.count;
    if (count > total) return 'long_page';
    return page.next === null && count < Math.min(total, cap) ? 'short_page' : null;
  }
  const due = Math.min(pass.rows, Math.max(0, Math.min(total, cap) - index * pass.rows));
  if (page.count === due) return null;
  return page.count < due ? 'short_page' : 'long_page';
}

function pick(
  { sent, resume }: SliceWork,
  pass: Pass,
  page: PageView,
  { ids, keepsFirst }: { ids: readonly string[]; keepsFirst: boolean },
): Judgement {
  const keep: number[] = [];
  const here = new Set<string>();
  const met: [id: string, checksum: number][] = [];
  let { idChecksum } = pass;
  let place = pass.count - ids.length;
  let changed = 0;
  for (const [i, id] of ids.entries()) {
    place += 1;
    idChecksum = addId(idChecksum, id);
    if (resume !== null && place <= resume.taken) {
      if (place === resume.taken && idChecksum !== resume.idChecksum)
        return { trouble: 'changed_since_checkpoint', total: pass.total, got: pass.count };
      met.push([id, lastSent(sent, id) ?? deliveredBefore]);
      continue;
    }
    if (pass.total === null && (checksumIn(pass.seen, id) !== undefined || here.has(id))) continue;
    here.add(id);
    const checksum = page.checksumOf(i);
    const known = lastSent(sent, id);
    met.push([id, checksum]);
    if (known === checksum) continue;
    if (known !== undefined && known !== deliveredBefore) changed += 1;
    if (known === undefined || !keepsFirst) keep.push(i);
  }
  const seen = withPage(pass.seen, met);
  const again = ids.length - keep.length;
  // A page of which all is delivered is the usual case, and its bytes need not be picked apart.
  const picked = again === 0 ? null : keep;
  return { trouble: null, pass: { ...pass, idChecksum, seen }, ids, keep: picked, again, changed };
}

/** The checksum a record had when it went out last. */
function lastSent(sent: readonly Seen[], id: string): number | undefined {
  const last = sent.findLast((seen) => checksumIn(seen, id) !== undefined);
  return last && checksumIn(last, id);
}

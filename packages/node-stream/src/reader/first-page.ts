import { itemAt } from '@call-attribution/core/errors';
import { isCapped, recordsIn } from './capacity.ts';
import { addId } from './judge.ts';
import type { PageView } from './page-view.ts';
import { searchLower } from './questions.ts';
import type { Region } from './region.ts';
import { askQuestion, fromItsStart } from './requests.ts';
import { withPage } from './seen.ts';
import { halve, regionsOf, sampleOf } from './split.ts';
import { canSplit, type Draft, extentOf, lowerOf, type PlanSettings, put, replace, takeId } from './state.ts';
import { isInside, type PageWork, type SliceWork } from './work.ts';

/** Passes whose pages do not agree may be chance; after so many, a slice is cut instead. */
const patientPasses = 2;

/** Decides by the page at hand what happens to a slice: it is read as it is, requested again, or cut. */
export function decide(draft: Draft, slice: SliceWork): void {
  const [request] = slice.pages;
  const page = request?.result;
  if (request === undefined || page === null || typeof page !== 'object') return;
  if (showsEnd(slice, request, page)) draft.style = 'closed';
  if (isStale(draft, slice, request)) refetch(draft, slice);
  // A slice of an earlier run has a cut end before it is known how this server reads such ends.
  else if (slice.span.to !== null && mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (isAstray(draft, slice, page)) doubt(draft, slice);
  else if (request.index > 0 || (page.count === page.total && !isCapped(draft.capacity, page.total)))
    read(draft, slice, page);
  else if (!canSplit(draft, slice)) read(draft, slice, page);
  else if (isTooMuch(draft, slice, page)) split(draft, withoutResume(draft, slice, page), page);
  else if (isRestless(slice, page)) splitRestless(draft, slice, page);
  else read(draft, slice, page);
}

type Ends = Pick<PlanSettings, 'axis' | 'isBounded' | 'lower' | 'upper'>;

/** Whether a page holds records from outside its slice that nothing explains. */
export function isAstray(
  { obeysRanges, settings }: { readonly obeysRanges: boolean | null; readonly settings: Ends },
  { span }: Pick<SliceWork, 'span'>,
  page: PageView,
): boolean {
  const { axis, isBounded } = settings;
  const from = span.from ?? (isBounded === true ? settings.lower : null);
  const to = span.to ?? (isBounded === true ? settings.upper : null);
  // A source that does filter may do so by a clock that is set forward and back.
  const slack = obeysRanges === true ? axis.slack : 0;
  return !isInside({ from: from === null ? null : from - slack, to: to === null ? null : to + slack }, page);
}

/** Whether a page was requested in a form that this server, as is known by now, reads differently. */
export function isStale({ style }: Draft, { span }: SliceWork, request: PageWork): boolean {
  return span.to !== null && style === 'closed' && request.style === 'half-open';
}

/** Whether a page begins or ends with an item at the end that should be left out: then this source takes `}` for `]`. */
function showsEnd({ span: { to } }: SliceWork, { style }: PageWork, page: PageView): boolean {
  return (
    to !== null &&
    style === 'half-open' &&
    (page.positionOf(0) === to || page.positionOf(page.count - 1) === to)
  );
}

/** Requests the first page once more. */
export function refetch(draft: Draft, slice: SliceWork): void {
  put(draft, fromItsStart(draft, slice));
}

function doubt(draft: Draft, slice: SliceWork): void {
  if (draft.obeysRanges === null) askQuestion(draft, slice, { kind: 'past' });
  else put(draft, { ...slice, status: 'foreign' });
}

function read(draft: Draft, slice: SliceWork, page: PageView): void {
  const [request] = slice.pages;
  const isProbe = request?.index === 0 && request.rows < slice.pass.rows && page.count !== page.total;
  if (isProbe) {
    refetch(draft, { ...slice, probe: false });
    return;
  }
  // Without a total, any number of rows may be the most that the server returns: the next page will show.
  const mayHaveMore = page.count > 0 && page.count < (page.total ?? Number.POSITIVE_INFINITY);
  const rows = request?.index === 0 && mayHaveMore ? page.count : slice.pass.rows;
  put(draft, { ...slice, status: 'readable', pass: { ...slice.pass, rows } });
}

function isTooMuch({ capacity }: Draft, { isSingle }: SliceWork, { total, count }: PageView): boolean {
  return total !== null && count > 0 && total > recordsIn(capacity, isSingle);
}

function isRestless({ passes, isSingle }: SliceWork, { total, count }: PageView): boolean {
  // A single page that contradicts its own total seldom changes in another pass.
  return total !== null && count > 0 && passes > (isSingle ? 1 : patientPasses);
}

/**
 * The place where an earlier run stopped is a place in this slice, and is lost when the slice is cut. So the records before
 * it are noted one by one. Where the page no longer shows them, all records of the slice are delivered again.
 */
function withoutResume(draft: Draft, slice: SliceWork, page: PageView): SliceWork {
  const { resume, sent, span } = slice;
  if (resume === null) return slice;
  draft.outputs.push({ kind: 'reread', span, trouble: 'changed_since_checkpoint' });
  const ids = page.ids().slice(0, resume.taken);
  if (ids.length < resume.taken || ids.reduce(addId, 0) !== resume.idChecksum)
    return put(draft, { ...slice, resume: null });
  const seen = withPage(
    [],
    ids.map((id, i) => [id, page.checksumOf(i)]),
  );
  return put(draft, { ...slice, resume: null, sent: [...sent, seen] });
}

function split(draft: Draft, slice: SliceWork, page: PageView): void {
  const { axis } = draft.settings;
  const sample = sampleOf(page, axis);
  const [first = draft.settings.horizon, last = first] = [sample.positions[0], sample.positions.at(-1)];
  const capacity = recordsIn(draft.capacity, slice.isSingle);
  const lower = lowerOf(draft, slice) ?? (sample.order === 'ascending' ? first : null);
  if (mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (lower === null) askQuestion(draft, slice, searchLower(first, last - first, capacity / 2, axis));
  else {
    const facts = { total: page.total ?? 0, ...extentOf(draft, slice, lower), capacity };
    divide(draft, slice, regionsOf(slice.span, facts, sample, axis));
  }
}

/**
 * Cuts a slice whose pages do not agree in any pass into slices of a single page, which have no other page to disagree with.
 * A slice that contradicts even its own total is cut in two, so that the fault is confined to as few records as possible.
 */
function splitRestless(draft: Draft, slice: SliceWork, page: PageView): void {
  const single = withoutResume(draft, { ...slice, isSingle: true }, page);
  if (isTooMuch(draft, single, page)) split(draft, single, page);
  else splitInTwo(draft, single, page);
}

function splitInTwo(draft: Draft, slice: SliceWork, page: PageView): void {
  const { axis } = draft.settings;
  const sample = sampleOf(page, axis);
  const lower = lowerOf(draft, slice) ?? (sample.positions[0] ?? draft.settings.horizon) - axis.step;
  const facts = { total: page.total ?? 0, ...extentOf(draft, slice, lower) };
  const halves = halve(slice.span, facts, sample, axis);
  if (mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (halves === null) read(draft, slice, page);
  else divide(draft, slice, halves);
}

function divide(draft: Draft, slice: SliceWork, regions: readonly Region[]): void {
  const { id, sent, isSingle } = fromItsStart(draft, slice);
  const pieces = regions.map((region) => ({
    ...region,
    kind: 'region' as const,
    id: takeId(draft),
    isSingle,
    sent,
  }));
  replace(draft, id, ...pieces);
}

/** Whether it is unknown how this server reads upper ends, while a page shows a position to ask with. */
function mustAskStyle({ style, settings }: Draft, page: PageView): boolean {
  return style === null && sampleOf(page, settings.axis).positions.length > 0;
}

function askStyle(draft: Draft, slice: SliceWork, page: PageView): void {
  askQuestion(draft, slice, {
    kind: 'style',
    known: itemAt(sampleOf(page, draft.settings.axis).positions, 0),
  });
}

import { finest } from '../query/time-slice.ts';
import { recordsIn } from './capacity.ts';
import { addSid } from './judge.ts';
import type { PageView } from './page-view.ts';
import { searchLower } from './questions.ts';
import type { Region } from './region.ts';
import { askQuestion, withoutPages } from './requests.ts';
import { nothingSeen, withPage } from './seen.ts';
import { halve, regionsOf, sampleOf } from './split.ts';
import { canSplit, type Draft, lowerOf, put, replace, takeId, upperOf } from './state.ts';
import { isInside, type PageWork, type SliceWork } from './work.ts';

/** A pass whose pages do not agree may be chance; from the third one on, a slice is cut in two instead. */
const patientPasses = 2;
/** A slice that was cut in two this often is not cut further, but given up: the list is not moving, it is wrong. */
const mostHalvings = 20;
/** The server's clock changes by hours, its time zone by a day: records further outside of a slice were not asked for. */
const mostAstray = 26 * 3600 * finest;

/** Decides what becomes of a slice by the page at hand: read it as it is, ask for it again, or cut it. */
export function decide(draft: Draft, slice: SliceWork): void {
  const [request] = slice.pages;
  const page = request?.result;
  if (request === undefined || page === null || typeof page !== 'object') return;
  if (isStale(draft, slice, request)) refetch(draft, slice);
  // A slice of an earlier run has a cut end before it is known how this server reads such ends.
  else if (slice.span.to !== null && mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (isAstray(draft, slice, page)) doubt(draft, slice);
  else if (request.index > 0 || page.count === page.total) read(draft, slice, page);
  else if (isTooMuch(draft, page) && canSplit(draft, slice))
    split(draft, withoutResume(draft, slice, page), page);
  else if (isRestless(slice, page) && canSplit(draft, slice)) splitInTwo(draft, slice, page);
  else read(draft, slice, page);
}

/** Whether a page holds records from outside of its slice that nothing explains. */
export function isAstray({ obeysRanges }: Draft, { span: { from, to } }: SliceWork, page: PageView): boolean {
  // A server that does filter may do so by a clock of its own, one that is put on and back.
  const slack = obeysRanges === true ? mostAstray : 0;
  return !isInside({ from: from === null ? null : from - slack, to: to === null ? null : to + slack }, page);
}

/** Whether a page was asked for in a way that this server, as is known by now, reads otherwise. */
export function isStale({ style }: Draft, { span }: SliceWork, request: PageWork): boolean {
  return span.to !== null && style === 'closed' && request.style === 'half-open';
}

/** Asks for the first page once more. */
export function refetch(draft: Draft, slice: SliceWork): void {
  put(draft, withoutPages(draft, slice));
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
  // Without a total, any number of rows may be what the server gives at most: the page after it tells.
  const mayHaveMore = page.count > 0 && page.count < (page.total ?? Number.POSITIVE_INFINITY);
  const rows = request?.index === 0 && mayHaveMore ? page.count : slice.pass.rows;
  put(draft, { ...slice, status: 'readable', pass: { ...slice.pass, rows } });
}

function isTooMuch({ capacity }: Draft, { total, count }: PageView): boolean {
  return total !== null && count > 0 && total > recordsIn(capacity);
}

function isRestless({ passes, halvings }: SliceWork, { total, count }: PageView): boolean {
  return total !== null && count > 0 && passes > patientPasses && halvings < mostHalvings;
}

/**
 * The place where an earlier run stopped is a place in this very slice: it is lost when the slice is cut. So the records
 * before it, when this page has them all, are noted one by one. When it has not, the slice keeps its place.
 */
function withoutResume(draft: Draft, slice: SliceWork, page: PageView): SliceWork {
  const { resume, sent, span } = slice;
  if (resume === null || resume.taken > page.count) return slice;
  const sids = page.sids().slice(0, resume.taken);
  if (sids.reduce(addSid, 0) === resume.sidChecksum) {
    const checksums = sids.map((_, i) => page.checksumOf(i));
    return put(draft, { ...slice, resume: null, sent: [...sent, withPage(nothingSeen(), sids, checksums)] });
  }
  draft.outputs.push({ kind: 'reread', span, trouble: 'changed_since_checkpoint' });
  return put(draft, { ...slice, resume: null });
}

function split(draft: Draft, slice: SliceWork, page: PageView): void {
  const sample = sampleOf(page);
  const [first = draft.settings.horizon, last = first] = [sample.times[0], sample.times.at(-1)];
  const capacity = recordsIn(draft.capacity);
  const lower = lowerOf(draft, slice) ?? (sample.order === 'ascending' ? first : null);
  if (slice.resume !== null) read(draft, slice, page);
  else if (mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (lower === null) askQuestion(draft, slice, searchLower(first, last - first, capacity / 2));
  else {
    const facts = { total: page.total ?? 0, lower, upper: upperOf(draft, slice, lower), capacity };
    divide(draft, slice, regionsOf(slice.span, facts, sample), slice.halvings);
  }
}

/** For a slice whose pages do not agree in any pass: its halves have fewer pages to disagree with. */
function splitInTwo(draft: Draft, slice: SliceWork, page: PageView): void {
  const sample = sampleOf(page);
  const lower = lowerOf(draft, slice) ?? (sample.times[0] ?? draft.settings.horizon) - finest;
  const facts = { total: page.total ?? 0, lower, upper: upperOf(draft, slice, lower) };
  const halves = halve(slice.span, facts, sample);
  if (mustAskStyle(draft, page)) askStyle(draft, slice, page);
  else if (halves === null) read(draft, slice, page);
  else divide(draft, slice, halves, slice.halvings + 1);
}

function divide(draft: Draft, slice: SliceWork, regions: readonly Region[], halvings: number): void {
  const { id, sent } = withoutPages(draft, slice);
  const pieces = regions.map((region) => ({
    ...region,
    kind: 'region' as const,
    id: takeId(draft),
    halvings,
    sent,
  }));
  replace(draft, id, ...pieces);
}

/** Whether it is unknown how this server reads upper ends, while a page shows a time to ask with. */
function mustAskStyle({ style }: Draft, page: PageView): boolean {
  return style === null && sampleOf(page).times.length > 0;
}

function askStyle(draft: Draft, slice: SliceWork, page: PageView): void {
  askQuestion(draft, slice, { kind: 'style', known: sampleOf(page).times[0] as number });
}

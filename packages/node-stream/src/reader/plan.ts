import { itemAt } from '@call-attribution/core/errors';
import { capacityAfter, isCapped } from './capacity.ts';
import { decide, isAstray, isStale, refetch } from './first-page.ts';
import { judgePage, type Trouble } from './judge.ts';
import { lookaheadAfter } from './lookahead.ts';
import type { PageView } from './page-view.ts';
import { afterDoubt, nextLower, type Question, styleOf } from './questions.ts';
import { learn } from './region.ts';
import { askQuestion, fromItsStart, requestPages, sizesOf } from './requests.ts';
import { type Draft, type Output, type Plan, type PlanFailure, put, replace } from './state.ts';
import type { Failure, PageWork, Pass, SliceWork } from './work.ts';

// The planning of a read, as a pure function of what happened: no clock, no client, no promise. `run.ts` connects it to a
// client; a simulator in the tests connects it to a model of a list that moves.

/** What happens to a read. */
export type PlanEvent =
  /** The consumer wants the next records. */
  | { readonly kind: 'wanted' }
  /** A request brought a page, or failed. */
  | { readonly kind: 'arrived'; readonly id: number; readonly page: PageView }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure };

/** The state after an event, and what is to be done. */
export interface Step {
  readonly plan: Plan;
  readonly outputs: readonly Output[];
}

/** Applies an event. The same state and event always give the same step, and the state given stays as it is. */
export function step(plan: Plan, event: PlanEvent): Step {
  const draft: Draft = { ...plan, outputs: [] };
  if (event.kind === 'wanted') want(draft);
  else if (event.id === plan.question?.id) answered(draft, plan.question, event);
  else if (event.kind === 'arrived') arrived(draft, event.id, event.page);
  else failed(draft, event.id, event.failure);
  deliver(draft);
  requestPages(draft);
  const { outputs, ...next } = draft;
  return { plan: next, outputs };
}

function want(draft: Draft): void {
  requestPages(draft);
  draft.isWanted = true;
  if (draft.delivered > 0) draft.lookahead = lookaheadAfter(draft.lookahead, sizesOf(draft));
}

function arrived(draft: Draft, id: number, page: PageView): void {
  const { lookahead } = draft;
  draft.lookahead = { ...lookahead, pages: lookahead.pages + 1, bytes: lookahead.bytes + page.bytes };
  const found = withResult(draft, id, page);
  if (found === null) {
    draft.outputs.push({ kind: 'forget', id });
    return;
  }
  const { slice, request } = found;
  if (request.index > 0) return;
  if (isStale(draft, slice, request)) refetch(draft, slice);
  else decide(draft, counted(draft, slice, request, page));
}

/** Counts the total of a first page in: for the capacity, the region it was cut from, and the progress of the read. */
function counted(draft: Draft, slice: SliceWork, { rows }: PageWork, { count, total }: PageView): SliceWork {
  if (total === null) return slice;
  const isProbe = slice.probe && rows === 1;
  if (!isProbe) draft.capacity = capacityAfter(draft.capacity, count, total);
  if (slice.isCounted) return slice;
  const { origin } = slice;
  if (origin === null) draft.outputs.push({ kind: 'total', total });
  const region = draft.work.find((piece) => piece.id === origin?.region);
  if (origin !== null && region?.kind === 'region') put(draft, learn(region, { ...origin, total }));
  return put(draft, { ...slice, isCounted: true });
}

function failed(draft: Draft, id: number, failure: Failure): void {
  const found = withResult(draft, id, failure);
  if (found === null) draft.outputs.push({ kind: 'forget', id });
  if (found === null || failure !== 'refused') return;
  const { slice, request } = found;
  const hasExclusiveBound = draft.settings.hasExclusiveBound || slice.span.to !== null;
  if (!hasExclusiveBound || request.style === 'closed' || draft.style === 'half-open') return;
  draft.style = 'closed';
  refetch(draft, slice);
}

function withResult(
  draft: Draft,
  id: number,
  result: PageView | Failure,
): { slice: SliceWork; request: PageWork } | null {
  for (const piece of draft.work) {
    if (piece.kind === 'region') continue;
    const request = piece.pages.find((page) => page.id === id);
    if (request === undefined) continue;
    const pages = piece.pages.map((page) => (page.id === id ? { ...page, result } : page));
    const next = typeof result === 'object' ? result.next : undefined;
    const onward = next === undefined ? piece.onward : { to: next };
    return { slice: put(draft, { ...piece, pages, onward }), request };
  }
  return null;
}

function answered(draft: Draft, question: Question, event: Exclude<PlanEvent, { kind: 'wanted' }>): void {
  draft.question = null;
  const slice = draft.work.find((piece) => piece.id === question.slice);
  const isRefused = event.kind === 'failed' && event.failure === 'refused' && question.kind !== 'lower';
  const isStuck = slice?.kind === 'slice' && event.kind === 'failed' && !isRefused;
  // The error of a question that failed is told when the slice is due.
  if (!isStuck) draft.outputs.push({ kind: 'forget', id: question.id });
  if (slice?.kind !== 'slice') return;
  if (isStuck) put(draft, { ...slice, status: { stuck: question.id } });
  else conclude(draft, slice, question, event.kind === 'arrived' ? event.page : null);
  for (const piece of draft.work)
    if (piece.kind === 'slice' && piece.status === 'unclear' && draft.question === null) decide(draft, piece);
}

/** What the answer to a question says; null when the server refused the range. */
function conclude(draft: Draft, slice: SliceWork, question: Question, page: PageView | null): void {
  const total = page?.total ?? null;
  if (question.kind === 'style') {
    draft.style ??= styleOf(total);
  } else if (question.kind === 'lower') {
    const next = nextLower(question, total, draft.settings.axis);
    if (typeof next === 'number') put(draft, { ...slice, lower: next });
    else askQuestion(draft, slice, next);
  } else {
    // A list without totals says by an empty page that there is nothing.
    const next = afterDoubt(question.kind, page?.count === 0 ? (total ?? 0) : total);
    if (typeof next === 'boolean') draft.obeysRanges = next;
    else askQuestion(draft, slice, next);
  }
}

/** Delivers the next records, if they have arrived and are wanted. */
function deliver(draft: Draft): void {
  while (draft.isWanted) {
    requestPages(draft);
    const [head] = draft.work;
    if (head === undefined) {
      draft.isWanted = false;
      draft.outputs.push({ kind: 'end' });
    } else if (head.kind === 'region' || !takeNext(draft, head)) return;
  }
}

/** Takes the first page of the first slice. False when it has not arrived yet, or the read has failed. */
function takeNext(draft: Draft, slice: SliceWork): boolean {
  const { span, status } = slice;
  const [request] = slice.pages;
  const { total, count: got } = slice.pass;
  if (request === undefined) return readAgain(draft, slice, { trouble: 'short_page', total, got });
  const { id, index, result } = request;
  if (result === null || status === 'unclear') return false;
  if (result === 'misplaced') {
    // The client has tried again by itself. A page that still does not fit is from a list that changes.
    return readAgain(draft, slice, { trouble: 'wrong_page', total, got });
  }
  if (typeof result === 'string' || typeof status === 'object') {
    return fail(draft, { kind: 'request', id: typeof status === 'object' ? status.stuck : id, span, index });
  }
  if (status === 'foreign') return fail(draft, { kind: 'ranges_ignored', span });
  if (index > 0 && isAstray(draft, slice, result)) {
    decide(draft, slice);
    return true;
  }
  const judgement = judgePage(slice, result, index, draft.settings);
  if (judgement.trouble !== null) return readAgain(draft, slice, judgement);
  const { ids, again, changed } = judgement;
  const { keep, dropped } = withoutStrays(draft, slice, judgement.keep, ids, result);
  const settled = judgement.pass.settled + settledOn(draft, slice, result) - dropped;
  const pass = { ...judgement.pass, settled, hasStrays: judgement.pass.hasStrays || dropped > 0 };
  // A cursor that leads to itself and brings nothing new leads nowhere.
  const isStuck = result.next === request.after && result.count > 0 && judgement.keep?.length === 0;
  const isLast = isStuck || isEnd(draft, pass, request, result);
  if (isLast) replace(draft, slice.id);
  else put(draft, { ...slice, pass, pages: slice.pages.slice(1) });
  draft.isWanted = false;
  draft.delivered += 1;
  const { count: offset, idChecksum, settled: settledBefore } = slice.pass;
  const isBeyond = isLast && isCapped(draft.capacity, pass.total);
  draft.outputs.push({
    kind: 'batch',
    batch: {
      id,
      span,
      index,
      after: request.after,
      offset,
      settledBefore,
      idChecksum,
      ids,
      keep,
      again: again + dropped,
      changed,
      isLast,
      passes: slice.passes,
      count: pass.count,
      total: pass.total,
      settled,
      hasStrays: pass.hasStrays,
      outOfReach: isBeyond ? Math.max(0, (pass.total ?? 0) - pass.count) : null,
    },
  });
  return true;
}

/** Whether a slice ends with a page. */
function isEnd(
  { capacity }: Draft,
  { total, count, rows }: Pass,
  { index }: PageWork,
  page: PageView,
): boolean {
  if (total !== null && count >= total) return true;
  if ((index + 1) * rows >= (capacity.cap ?? Number.POSITIVE_INFINITY)) return true;
  if (page.next !== undefined) return page.next === null;
  return total === null && page.count < rows;
}

/** Records of a page that the count at the end will hold. */
function settledOn(
  { settings: { countBefore, lower, upper } }: Draft,
  { span }: SliceWork,
  page: PageView,
): number {
  if ((span.to ?? upper ?? Number.POSITIVE_INFINITY) <= countBefore) return page.count;
  if ((span.from ?? lower ?? Number.NEGATIVE_INFINITY) >= countBefore) return 0;
  return Array.from({ length: page.count }, (_, i) => page.positionOf(i)).filter((time) => time < countBefore)
    .length;
}

/** Begins a slice again. Records that were delivered already are not delivered a second time. */
function readAgain(
  draft: Draft,
  slice: SliceWork,
  { trouble, total, got }: { trouble: Trouble; total: number | null; got: number },
): boolean {
  const { span, passes } = slice;
  const { tries } = draft.settings;
  draft.outputs.push({ kind: 'reread', span, trouble });
  if (passes >= tries)
    return fail(draft, { kind: 'incomplete', span, expected: total, got, trouble, tries: passes });
  put(draft, {
    ...fromItsStart(draft, slice),
    passes: passes + 1,
    resume: trouble === 'changed_since_checkpoint' ? null : slice.resume,
    probe: false,
  });
  return true;
}

function fail(draft: Draft, failure: PlanFailure): false {
  draft.isWanted = false;
  draft.outputs.push({ kind: 'failure', failure });
  return false;
}

/**
 * Where a server's clock was set forward, a slice may hold records of the hour after it, and a later slice the same ones
 * again: these are left out then.
 */
function withoutStrays(
  draft: Draft,
  { span: { to } }: SliceWork,
  keep: readonly number[] | null,
  ids: readonly string[],
  page: PageView,
): { keep: readonly number[] | null; dropped: number } {
  if (draft.obeysRanges !== true) return { keep, dropped: 0 };
  const all = keep ?? [...ids.keys()];
  const kept = all.filter((i) => !draft.strays.has(itemAt(ids, i)));
  const astray = to === null ? [] : kept.filter((i) => page.positionOf(i) >= to);
  if (astray.length > 0) draft.strays = new Set([...draft.strays, ...astray.map((i) => itemAt(ids, i))]);
  return { keep: kept.length === ids.length ? null : kept, dropped: all.length - kept.length };
}

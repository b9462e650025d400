import { mayHoldMore } from './lookahead.ts';
import { type NewQuestion, rangeOf } from './questions.ts';
import { cut } from './region.ts';
import { type Draft, isSealed, limitsOf, put, replace, takeId } from './state.ts';
import {
  hasNextPage,
  newPass,
  newSlice,
  type PageWork,
  type RegionWork,
  type SliceWork,
  startAt,
  type Work,
} from './work.ts';

/** Requests pages in order, as far as the lookahead allows. The first piece may always be requested; open ends wait for that. */
export function requestPages(draft: Draft): void {
  for (;;) {
    const at = draft.work.findIndex(
      (piece) =>
        piece.kind === 'region' || hasNextPage(piece, draft.capacity.cap ?? Number.POSITIVE_INFINITY),
    );
    const piece = draft.work[at];
    if (piece === undefined) return;
    const isFirst = at === 0 && (piece.kind === 'region' || piece.pages.length === 0);
    // A slice ahead that has to be cut takes more pages than one: near the limit, each piece waits for the one before.
    const { mostPages = Number.POSITIVE_INFINITY } = draft.settings;
    if (draft.delivered + (isFirst ? 0 : sizesOf(draft).length + 2) >= mostPages) return;
    if (!isFirst && !(mayRunAhead(draft, piece) && mayHoldMore(draft.lookahead, sizesOf(draft)))) return;
    if (piece.kind === 'region') requestPage(draft, cutSlice(draft, piece));
    else requestPage(draft, piece);
  }
}

/** Sizes of the pages held; null for those that have not arrived. */
export function sizesOf({ work }: Draft): (number | null)[] {
  return work.flatMap((piece) => (piece.kind === 'slice' ? piece.pages.map(sizeOf) : []));
}

/** Puts a question to the server, unless one is open: then the slice waits until that is answered. */
export function askQuestion(draft: Draft, slice: SliceWork, question: NewQuestion): void {
  put(draft, { ...slice, status: 'unclear' });
  if (draft.question !== null) return;
  const id = takeId(draft);
  draft.question = { ...question, id, slice: slice.id };
  draft.outputs.push({
    ...{ kind: 'request', id, slice: slice.id },
    ...rangeOf(question, draft.style, draft.settings.axis),
    ...{ rows: 1, start: 0, after: null },
  });
}

/** Requests the next page of a slice. */
function requestPage(draft: Draft, slice: SliceWork): void {
  const { pages, next, probe, pass, span, onward } = slice;
  const page: PageWork = {
    id: takeId(draft),
    index: next,
    after: onward?.to ?? null,
    rows: probe && next === 0 ? 1 : pass.rows,
    style: draft.style ?? 'half-open',
    result: null,
  };
  put(draft, { ...slice, pages: [...pages, page], next: next + 1, onward: onward && null });
  draft.outputs.push({
    kind: 'request',
    id: page.id,
    slice: slice.id,
    span,
    style: page.style,
    rows: page.rows,
    start: next,
    after: page.after,
  });
}

/** The slice before its first page is requested. What was delivered of it in this pass stays known. */
export function fromItsStart(draft: Draft, slice: SliceWork): SliceWork {
  const { pages, pass, sent, status } = slice;
  for (const { id } of pages) draft.outputs.push({ kind: 'forget', id });
  if (typeof status === 'object') draft.outputs.push({ kind: 'forget', id: status.stuck });
  return {
    ...slice,
    pages: [],
    ...startAt(undefined),
    status: 'requested',
    pass: newPass(draft.settings.rows),
    sent: pass.seen.length > 0 ? [...sent, pass.seen] : sent,
  };
}

function sizeOf({ result }: PageWork): number | null {
  if (result === null) return null;
  return typeof result === 'object' ? result.bytes : 0;
}

function mayRunAhead({ settings }: Draft, piece: Work): boolean {
  if (piece.kind === 'region') return piece.lower < settings.sealedBefore;
  return piece.isSealed && (piece.next === 0 || piece.pass.total !== null || piece.onward != null);
}

function cutSlice(draft: Draft, region: RegionWork): SliceWork {
  const { slice, rest } = cut(region, limitsOf(draft, region));
  const { span, expected, width, probe } = slice;
  const { sent, isSingle } = region;
  const made = newSlice(
    {
      id: takeId(draft),
      span,
      isSealed: isSealed(draft.settings, span),
      origin: { region: region.id, expected, width },
      sent,
      isSingle,
      probe,
    },
    draft.settings.rows,
  );
  replace(draft, region.id, made, ...(rest === null ? [] : [rest]));
  return made;
}

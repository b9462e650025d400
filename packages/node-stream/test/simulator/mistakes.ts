import { addId } from '../../src/reader/judge.ts';
import type { PageView } from '../../src/reader/page-view.ts';
import { type PlanEvent, type Step, step } from '../../src/reader/plan.ts';
import type { Output, Plan, PlannedBatch } from '../../src/reader/state.ts';
import type { SliceWork, Work } from '../../src/reader/work.ts';
import type { Reducer } from './read.ts';

// Mistakes planted in the reducer by wrapping it. The simulator must find each of them.

const withBatches = (change: (batch: PlannedBatch, plan: Plan) => PlannedBatch): Reducer =>
  withOutputs((output, plan) =>
    output.kind === 'batch' ? [{ kind: 'batch', batch: change(output.batch, plan) }] : [output],
  );

function withOutputs(change: (output: Output, plan: Plan) => Output[]): Reducer {
  return (plan, event) => {
    const { plan: next, outputs } = step(plan, event);
    return { plan: next, outputs: outputs.flatMap((output) => change(output, next)) };
  };
}

const withPages = (change: (page: PageView, plan: Plan, id: number) => PageView): Reducer => {
  return (plan, event) =>
    step(plan, event.kind === 'arrived' ? { ...event, page: change(event.page, plan, event.id) } : event);
};

const withWork = (change: (piece: Work) => Work[]): Reducer => {
  return (plan, event) =>
    afterwards(step(plan, event), (next) => ({ ...next, work: next.work.flatMap(change) }));
};

const withSlices = (change: (slice: SliceWork) => SliceWork): Reducer =>
  withWork((piece) => [piece.kind === 'slice' ? change(piece) : piece]);

const afterwards = ({ plan, outputs }: Step, change: (plan: Plan) => Plan): Step => ({
  plan: change(plan),
  outputs,
});

const isQuestion = (plan: Plan, event: PlanEvent, kind: string): boolean =>
  event.kind !== 'wanted' && plan.question?.id === event.id && plan.question.kind === kind;

/** The page as it is, with other facts. */
const view = (page: PageView, facts: Partial<PageView>): PageView => ({ ...page, ...facts });

/** Each mistake by its name. */
export const mistakes: Readonly<Record<string, Reducer>> = {
  'what went out in a pass that failed goes out again': withBatches((batch) =>
    batch.passes > 1 ? { ...batch, keep: null } : batch,
  ),
  'what went out before a slice was cut goes out again': withWork((piece) => [{ ...piece, sent: [] }]),
  'a page that is full is taken for the whole slice': withPages((page) =>
    page.count > 1 ? view(page, { total: Math.min(page.total ?? page.count, page.count) }) : page,
  ),
  'a total that moves between pages is not noticed': withPages((page, plan, id) => {
    const slice = plan.work.find(
      (piece) => piece.kind === 'slice' && piece.pages.some((one) => one.id === id),
    );
    const known = slice?.kind === 'slice' && slice.next > slice.pages.length ? slice.pass.total : null;
    return known === null ? page : view(page, { total: known });
  }),
  'a page short of one record is not noticed': withPages((page) =>
    page.total !== null && page.total === page.count + 1 ? view(page, { total: page.count }) : page,
  ),
  'a last page is not waited for': withBatches((batch) => ({
    ...batch,
    isLast: batch.isLast || (batch.total !== null && batch.count + 1 >= batch.total),
  })),
  'the end of a list is forgotten': (plan, event) => {
    const next = step(plan, event);
    return afterwards(next, (after) =>
      after.work.length > 3 ? { ...after, work: after.work.slice(0, -1) } : after,
    );
  },
  'slices overlap by a second': withWork((piece) => [
    piece.kind === 'region' && piece.span.from !== null && piece.remaining > 3
      ? { ...piece, span: { ...piece.span, from: piece.span.from - 1000 } }
      : piece,
  ]),
  'a second is missing between two slices': withWork((piece) => [
    piece.kind === 'region' && piece.span.from !== null && piece.span.from % 7000 === 0
      ? { ...piece, span: { ...piece.span, from: piece.span.from + 1000 } }
      : piece,
  ]),
  'every server is taken to know }': (plan, event) =>
    isQuestion(plan, event, 'style')
      ? afterwards(step(plan, event), (after) => ({ ...after, style: 'half-open' }))
      : step(plan, event),
  'no server is taken to know }, and the second before is left out': withOutputs((output) =>
    output.kind === 'request' && output.style === 'closed' && output.span.to !== null
      ? [{ ...output, span: { ...output.span, to: output.span.to - 1000 } }]
      : [output],
  ),
  'every server is taken to filter by date_added': (plan, event) =>
    step({ ...plan, obeysRanges: true }, event),
  'records of the hour after a gap go out twice': (plan, event) =>
    step({ ...plan, strays: new Set() }, event),
  'the place of an earlier run is believed': (plan, event) => {
    if (event.kind !== 'arrived') return step(plan, event);
    const sids = event.page.ids();
    const work = plan.work.map((piece) => {
      if (piece.kind !== 'slice' || piece.resume === null || !piece.pages.some(({ id }) => id === event.id))
        return piece;
      if (sids.length < piece.resume.taken) return piece;
      return {
        ...piece,
        resume: { ...piece.resume, idChecksum: checksumOf(sids.slice(0, piece.resume.taken)) },
      };
    });
    return step({ ...plan, work }, event);
  },
  'the place of an earlier run is forgotten': (plan, event) =>
    step(
      {
        ...plan,
        work: plan.work.map((piece) =>
          piece.kind === 'slice' && piece.resume !== null && piece.next === 0
            ? { ...piece, resume: null }
            : piece,
        ),
      },
      event,
    ),
  'a slice that never agrees is tried without end': withSlices((slice) => ({ ...slice, passes: 1 })),
  'a slice that never agrees is cut into itself': (plan, event) => {
    const before = plan.work[0];
    return afterwards(step(plan, event), (after) => ({
      ...after,
      work: after.work.map((piece) =>
        piece.kind === 'region' && piece.isSingle && before?.kind === 'slice'
          ? { ...piece, upper: before.span.to ?? piece.upper, span: { ...piece.span, to: before.span.to } }
          : piece,
      ),
    }));
  },
  'a list without totals is called complete': withBatches((batch) =>
    batch.total === null ? { ...batch, total: batch.count } : batch,
  ),
  'open ends are read ahead': withSlices((slice) => ({ ...slice, isSealed: true })),
  'pages are fetched ahead without limit': (plan, event) =>
    step(
      { ...plan, lookahead: { ...plan.lookahead, depth: 1000, limits: { pages: 1000, bytes: 1e9 } } },
      event,
    ),
  'a consumer that waits is forgotten': (plan, event) =>
    afterwards(step(plan, event), (after) =>
      event.kind === 'failed' ? { ...after, isWanted: false } : after,
    ),
  'pages are kept for good': withOutputs((output) => (output.kind === 'forget' ? [] : [output])),
  'a page that came late stands for its slice': (plan, event) => {
    if (event.kind !== 'arrived') return step(plan, event);
    const head = plan.work[0];
    const isHead = head?.kind === 'slice' && head.pages.some(({ id }) => id === event.id);
    const total = event.page.total;
    return step(
      plan,
      isHead || total === null ? event : { ...event, page: view(event.page, { total: event.page.count }) },
    );
  },
  'an empty page ends a list': withPages((page) =>
    page.count === 0 && page.next !== undefined ? view(page, { next: null }) : page,
  ),
  'a short page ends a list that goes on by cursors': withPages((page, plan) =>
    page.count < plan.settings.rows && page.next !== undefined ? view(page, { next: null }) : page,
  ),
  'cursors are forgotten': withOutputs((output) => [
    output.kind === 'request' ? { ...output, after: null } : output,
  ]),
  'nothing is known of a cap': (plan, event) => {
    const { cap: _, ...capacity } = plan.capacity;
    return step({ ...plan, capacity, settings: { ...plan.settings, cap: undefined } }, event);
  },
  'a total that is the cap is believed': (plan, event) => {
    const { cap } = plan.capacity;
    return step(cap === undefined ? plan : { ...plan, capacity: { ...plan.capacity, cap: cap + 1 } }, event);
  },
  'what a list without totals repeats goes out again': withBatches((batch) =>
    batch.total === null && batch.passes === 1 && batch.index > 0 ? { ...batch, keep: null } : batch,
  ),
  'an id that comes twice is not noticed': withPages((page, _, id) => {
    const ids = page.ids();
    return view(page, { ids: () => ids.map((one) => `${one}#${id}`) });
  }),
  'a request that failed counts as an empty list': (plan, event) =>
    step(
      plan,
      event.kind === 'failed' && event.failure === 'failed'
        ? { kind: 'arrived', id: event.id, page: emptyPage }
        : event,
    ),
  'a page that is asked for by a cursor is asked for again after a kill': withSlices((slice) =>
    slice.resume?.page !== undefined
      ? { ...slice, resume: { ...slice.resume, taken: slice.resume.page.offset } }
      : slice,
  ),
  'what an earlier run took in part is taken for whole': withWork((piece) =>
    piece.kind === 'slice' && piece.resume !== null && piece.resume.taken > 1 ? [] : [piece],
  ),
  'each page is asked for twice': withOutputs((output) =>
    output.kind === 'request' ? [output, output] : [output],
  ),
  'a list without totals ends where the source gives fewer rows': withSlices((slice) =>
    slice.pass.total === null ? { ...slice, pass: { ...slice.pass, rows: 100 } } : slice,
  ),
};

const emptyPage: PageView = {
  count: 0,
  first: null,
  total: 0,
  bytes: 0,
  ids: () => [],
  positionOf: () => Number.NaN,
  checksumOf: () => 0,
};

function checksumOf(sids: readonly string[]): number {
  return sids.reduce(addId, 0);
}

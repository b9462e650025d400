import { ConfigurationError } from '@call-attribution/core/errors';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { callAxis } from '../calls/call-axis.ts';
import type { PageClient } from '../calls/call-source.ts';
import { checkClient } from '../calls/options.ts';
import { type WindowQuery, windowQuery } from '../calls/window-query.ts';
import { makePlan } from './make-plan.ts';
import {
  type PlanSlicesOptions,
  type PlanSlicesSettings,
  planSlicesOptions,
  type SlicePlan,
} from './slice-plan.ts';
import { Totals } from './totals.ts';

/**
 * Cuts a query by `date_added` into slices end to end, all of about the same number of records, for several readers. It
 * requests totals only, little more than one for each slice. Of a filter with a range of `date_added`, that range is cut.
 *
 * @example
 * const plan = await planSlices(client, { to: '2026-11-01 00:00:00', records: 50_000 });
 * for (const slice of plan.slices) {
 *   const filter = sliceFilter('', slice, plan.bounds, client.version);
 *   const calls = createCallStream(client, { filter, window: { bounds: plan.bounds } });
 *   // ...
 * }
 */
export async function planSlices(client: PageClient, options: PlanSlicesOptions): Promise<SlicePlan> {
  checkClient(client);
  const settings = planSlicesOptions.read(options);
  const { records, by, signal, timeout, retry, headers, onProgress } = settings;
  const query = windowQuery(settings.filter, client.version);
  const span = spanOfPlan(query, settings);
  const totals = new Totals(client, query, { signal, timeout, retry, headers });
  const slices = await makePlan(totals, { ...span, records, isByMonth: by === 'month' }, onProgress);
  return {
    bounds: totals.style,
    from: span.from === null ? null : formatNaive(span.from),
    to: formatNaive(span.to),
    slices,
    total: slices.reduce((sum, { total }) => sum + total, 0),
    requests: totals.requests,
  };
}

/** What both the options and the filter leave of `date_added`. */
function spanOfPlan(
  { filter: { clauses }, lower, upper }: WindowQuery,
  options: PlanSlicesSettings,
): { from: number | null; to: number } {
  const own = clauses.find((clause) => clause.kind === 'range' && clause.field === 'date_added');
  const isBehind = own?.kind === 'range' && own.lower?.inclusive === false;
  const first =
    lower === null
      ? null
      : Math.floor(lower / callAxis.step) * callAxis.step + (isBehind ? callAxis.step : 0);
  const given = options.from == null ? null : parseNaive(options.from);
  const from = first === null || given === null ? (first ?? given) : Math.max(first, given);
  const to = Math.min(parseNaive(options.to), upper ?? Number.POSITIVE_INFINITY);
  if (from === null || from < to) return { from, to };
  throw new ConfigurationError(
    'invalid_option',
    `the plan would begin at ${formatNaive(from)} and end at ${formatNaive(to)}: the end must be later`,
  );
}

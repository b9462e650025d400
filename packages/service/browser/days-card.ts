import { diagnose } from '@call-attribution/query-dsl';
import { listCalls, totalOf } from './api.ts';
import { type DayCount, drawChart } from './chart.ts';
import { daysOf, mostDays, withDay } from './days.ts';
import { byId } from './dom.ts';
import type { Search } from './search.ts';

/** The card with the calls per day. */
export interface DaysCard {
  /** Counts the days of a search with this total; a search that is shown already is not counted again. */
  show(search: Search, total: number, signal: AbortSignal): Promise<void>;
}

/** Draws the chart, and draws it again when the search or the width changes. */
export function createDaysCard(): DaysCard {
  const place = byId('days');
  let shown = '';
  let counts: readonly DayCount[] = [];
  let width = 0;

  new ResizeObserver(([entry]) => {
    const now = Math.round(entry?.contentRect.width ?? 0);
    if (now === width || counts.length === 0) return;
    width = now;
    drawChart(place, counts);
  }).observe(place);

  return {
    async show(search, total, signal) {
      const key = JSON.stringify([search, total]);
      if (key === shown) return;
      const days = await daysFor(search, total, signal);
      counts = await countDays(search, days, signal);
      shown = key;
      drawChart(place, counts);
      byId('days-sum').textContent =
        days.length === mostDays ? `the last ${mostDays} days` : `${days.length} days`;
    },
  };
}

async function daysFor({ version, keys, q }: Search, total: number, signal: AbortSignal): Promise<string[]> {
  if (total === 0) return [];
  const dayAt = async (start: number) => {
    const [call] = (await listCalls(version, keys, q, 1, start, signal)).records;
    return String(call?.date_added).slice(0, 10);
  };
  const [first, last] = await Promise.all([dayAt(0), dayAt(total - 1)]);
  return daysOf(diagnose(q, { version }).filter, first, last);
}

// One request a day for its total: the service counts without reading a call.
async function countDays(
  { version, keys, q }: Search,
  days: readonly string[],
  signal: AbortSignal,
): Promise<readonly DayCount[]> {
  const counts: DayCount[] = [];
  const queue = [...days.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [i, day] = next;
      counts[i] = { day, calls: await totalOf(version, keys, withDay(q, day), signal) };
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return counts;
}

import { diagnose } from '@call-attribution/query-dsl';
import { listCalls, totalOf } from './api.ts';
import { type DayCount, drawChart } from './chart.ts';
import { daysOf, mostDays, withDay } from './days.ts';
import { byId } from './dom.ts';
import type { Question } from './question.ts';

/** The card with the calls per day. */
export interface DaysCard {
  /** Counts the days of a question with so many calls in all; a question that is shown already is not asked again. */
  show(question: Question, total: number, signal: AbortSignal): Promise<void>;
}

/** Draws the chart anew when the question or the width changes. */
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
    async show(question, total, signal) {
      const key = JSON.stringify([question, total]);
      if (key === shown) return;
      const days = await daysFor(question, total, signal);
      counts = await countDays(question, days, signal);
      shown = key;
      drawChart(place, counts);
      byId('days-sum').textContent =
        days.length === mostDays ? `the last ${mostDays} days` : `${days.length} days`;
    },
  };
}

async function daysFor({ version, who, q }: Question, total: number, signal: AbortSignal): Promise<string[]> {
  if (total === 0) return [];
  const dayAt = async (start: number) => {
    const [call] = (await listCalls(version, who, q, 1, start, signal)).records;
    return String(call?.date_added).slice(0, 10);
  };
  const [first, last] = await Promise.all([dayAt(0), dayAt(total - 1)]);
  return daysOf(diagnose(q, { version }).filter, first, last);
}

// The API's own totals, one request a day: the service answers them without reading a call.
async function countDays(
  { version, who, q }: Question,
  days: readonly string[],
  signal: AbortSignal,
): Promise<readonly DayCount[]> {
  const counts: DayCount[] = [];
  const queue = [...days.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [i, day] = next;
      counts[i] = { day, calls: await totalOf(version, who, withDay(q, day), signal) };
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return counts;
}

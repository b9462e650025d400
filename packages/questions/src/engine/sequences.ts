import type { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import { fieldsOf } from '../conditions/condition.ts';
import { compareText } from '../conditions/fold.ts';
import { callerOf, type Sequence, timeOf } from '../fields/facts.ts';
import type { Plan } from '../question/plan.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there: what it needs of each is kept.

/** What is kept of a call: its account, and the fields that the question needs. */
export type KeptCall = readonly [account: string, record: Readonly<Record<string, unknown>>];

const neededFor: Readonly<Record<string, readonly string[]>> = {
  missed: ['talk_minutes'],
  lag_minutes: ['displayed_timestamp'],
  click_id: ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'],
  click_kind: ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'],
  activity_type: ['activity_type_id'],
};
const always = ['sid', 'date_added', 'channel', 'ani'];

/** The fields of a record that a question needs. */
function neededFields({ groups, conditions, parts, fields }: Plan): readonly string[] {
  const names = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap(({ condition }) => [...fieldsOf(condition)]),
    ...parts.flatMap((part) => {
      if ('condition' in part) return [...fieldsOf(part.condition)];
      if ('field' in part) return [part.field];
      if (part.kind === 'lag_median' || part.kind === 'with_lag') return ['lag_minutes'];
      return ['talked', 'missed', 'talk_sum', 'talk_rank'].includes(part.kind) ? ['talk_minutes'] : [];
    }),
  ].map((name) => fields.get(name)?.name ?? name);
  return [...new Set([...always, ...names.flatMap((name) => neededFor[name] ?? [name])])];
}

/** Calls that are kept until all are there. */
export class KeptCalls {
  readonly calls: KeptCall[] = [];
  readonly #fields: readonly string[];
  readonly #memory: MemoryLimit;

  constructor(plan: Plan, memory: MemoryLimit) {
    this.#fields = neededFields(plan);
    this.#memory = memory;
  }

  /** Keeps what is needed of a call. */
  add(record: Readonly<Record<string, unknown>>, account: string): void {
    const kept: Record<string, unknown> = {};
    let bytes = 80;
    for (const name of this.#fields) {
      const value = record[name];
      if (value === undefined) continue;
      kept[name] = value;
      bytes += typeof value === 'string' ? 24 + value.length : 16;
    }
    this.#memory.take(bytes);
    this.calls.push([account, kept]);
  }

  /** The place of each call among those of its caller in its account; null without a caller number. */
  sequences(): readonly (Sequence | null)[] {
    const callers = new Map<string, number[]>();
    const times = this.calls.map(([, { date_added }]) => timeOf(date_added));
    this.calls.forEach(([account, { ani }], i) => {
      const caller = callerOf(ani);
      if (caller === null) return;
      const id = `${caller} ${account}`;
      const own = callers.get(id);
      if (own) own.push(i);
      else callers.set(id, [i]);
    });
    const found: (Sequence | null)[] = this.calls.map(() => null);
    const sidOf = (i: number) => String(this.calls[i]?.[1].sid);
    for (const own of callers.values()) {
      // Calls without a time come last.
      own.sort((a, b) => {
        const order = (times[a] ?? Number.MAX_VALUE) - (times[b] ?? Number.MAX_VALUE);
        return order !== 0 ? order : compareText(sidOf(a), sidOf(b));
      });
      own.forEach((i, at) => {
        found[i] = {
          nth: at + 1,
          sincePrevious: apart(times, own[at - 1], i),
          untilNext: apart(times, i, own[at + 1]),
        };
      });
    }
    return found;
  }
}

function apart(
  times: readonly (number | null)[],
  from: number | undefined,
  to: number | undefined,
): number | null {
  if (from === undefined || to === undefined) return null;
  const [start, end] = [times[from] ?? null, times[to] ?? null];
  return start === null || end === null ? null : end - start;
}

import { printFilter } from '@call-attribution/query-dsl';
import { groupedFields, type ScanPart, type Store } from '@call-attribution/store';
import { pageBucket, pageMeasures, pageQuestions, pageSummary, pageTotals, periodBefore } from './numbers.ts';
import type { PageBucket, PageQuestion, PageSource, PageSummary } from './question.ts';

/** Answers that are remembered until the calls of their account change. */
const mostKept = 64;
/** Most calls that are turned around in memory. */
const mostTurned = 500;

/**
 * A store as the source of the page: each question is one scan of an index, in which all numbers are counted together. Nothing of the
 * calls stays in memory but the last answers.
 */
export function rowsSource(store: Store): PageSource {
  const kept = new Map<string, { readonly position: number; readonly summary: PageSummary }>();
  const keep = (key: string, position: number, summary: PageSummary) => {
    kept.delete(key);
    kept.set(key, { position, summary });
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  };
  return {
    async *summary(account, question, by, signal) {
      const { version, filter, only, mostValues } = question;
      const key = JSON.stringify([account, version, printFilter(filter), [...only], by, mostValues]);
      const position = await store.position(account);
      const known = kept.get(key);
      if (known?.position === position) return yield known.summary;
      let tell: (known: Counted) => void = () => {};
      const first = new Promise<Counted>((resolve) => {
        tell = resolve;
      });
      const whole = countCalls(store, account, question, by, { signal, tell });
      yield (await Promise.race([first, whole])).summary;
      const { summary, position: counted } = await whole;
      keep(key, counted, summary);
      if (summary.before !== null) yield { before: summary.before };
    },
    async calls(account, { selection, only }, { offset, limit }) {
      if (only.size > 0 || limit > mostTurned) {
        const part = { offset, limit, newestFirst: true, only };
        return { total: null, calls: store.calls(account, selection, part) };
      }
      // The counts find a page of the table as fast as any other.
      const total = await store.count(account, selection);
      const end = Math.max(0, total - offset);
      const part = { offset: Math.max(0, end - limit), limit: Math.min(limit, end) };
      const calls: object[] = [];
      if (part.limit > 0) for await (const call of store.calls(account, selection, part)) calls.unshift(call);
      return { total, calls };
    },
    async call(account, sid) {
      const document = await store.document(account, sid, 'v3');
      return document === null ? null : (JSON.parse(String(document)) as object);
    },
  };
}

interface Counted {
  readonly summary: PageSummary;
  readonly position: number;
}

/** Counts the calls of the period, and after them those of the period before, in one scan. `tell` learns what is known in between. */
async function countCalls(
  store: Store,
  account: string,
  question: PageQuestion,
  by: PageBucket | 'auto',
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (known: Counted) => void },
): Promise<Counted> {
  // A service whose page nobody opens starts without it.
  const { answersOfRead } = await import('@call-attribution/questions');
  const { selection, only } = question;
  const past = periodBefore(question);
  const before = past && { ...selection, from: past.from / 1000, to: past.to / 1000 };
  const parts: ScanPart[] = [
    { selection, fields: groupedFields },
    ...(before === null ? [] : [{ selection: before, fields: [...only.keys()] }]),
  ];
  let known: Counted | undefined;
  await store.scan(
    account,
    parts,
    (start) => {
      const bucket = pageBucket(question, by, start);
      const counters = parts.map(({ fields }, i) => {
        const questions = i === 0 ? pageQuestions(question, bucket) : [pageTotals({ ...question, ...past })];
        return answersOfRead(questions, fields, { account });
      });
      return {
        take: (calls, part) => counters[part]?.add(calls),
        end(part) {
          const answers = counters[part]?.answers() ?? [];
          if (part === 0) {
            known = {
              summary: pageSummary(question, bucket, answers, { ...start, all: start.calls }),
              position: start.position,
            };
            tell(known);
          } else if (known !== undefined)
            known = { ...known, summary: { ...known.summary, before: pageMeasures(answers[0]) } };
        },
      };
    },
    { signal },
  );
  if (known === undefined) throw new TypeError('The scan of the store has not come to its end.');
  return known;
}

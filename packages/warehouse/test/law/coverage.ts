import type { Call } from '@call-attribution/core';
import { type Answer, fold, type Question } from '@call-attribution/questions';
import { lawGroups, lawMeasures } from './questions.ts';

// What random questions have asked, so that no part of the law rests on luck: how often each measure, group, operator and oddity of the
// calls has come, and each pair of them.

const operators: Readonly<Record<string, RegExp>> = {
  '=': /[^<>=]=[^=]/,
  '==': /==/,
  '<>': /<>/,
  '<': /<[^>=]/,
  '<=': /<=/,
  '>': /[^<]>[^=]/,
  '>=': />=/,
  IN: / IN \(/,
  BETWEEN: / BETWEEN /,
  LIKE: / LIKE /,
  'IS NULL': / IS NULL/,
  'IS NOT NULL': / IS NOT NULL/,
  NOT: /NOT \(/,
  AND: / AND (?!\d)/,
  OR: / OR /,
};

const options: Readonly<Record<string, (question: Question) => boolean>> = {
  having: ({ having }) => having !== undefined,
  topPer: ({ topPer }) => topPer !== undefined,
  limit: ({ limit }) => limit !== undefined,
  order: ({ order }) => order !== undefined,
  spend: ({ spend }) => spend !== undefined,
  q: ({ q }) => q !== undefined,
  'weeks from Sunday': ({ weekStart }) => weekStart === 'sunday',
  'another zone': ({ inZone }) => inZone !== undefined,
  'compared with the period before': ({ compare }) => compare === 'previous',
  'compared with the year before': ({ compare }) => compare === 'year',
  'compared with another period': ({ compare }) => typeof compare === 'object',
  'calls through extensions': ({ calls }) => calls === 'extensions',
  'calls of a website': ({ calls }) => calls === 'website',
};

/** What is odd about the calls of a question, or the answer. */
function oddities({ inZone, accounts }: Question, calls: readonly Call[], answer: Answer) {
  const texts = calls.flatMap(({ ppc_campaign: text }) => (typeof text === 'string' ? [text] : []));
  const [first] = answer.columns.filter(({ kind }) => kind === 'measure');
  const values = answer.rows.map((row) => row[first?.name ?? '']);
  return {
    'a missing value': texts.length < calls.length,
    'an empty value': texts.includes(''),
    'values that differ by case': new Set(texts).size > new Set(texts.map(fold)).size,
    'a number that is none': calls.some(({ talk_minutes: talk }) => !/^\d+\.\d$/.test(String(talk))),
    'a time that is none': calls.some(({ date_added: time }) => !/^20\d\d-(?!02-31)/.test(String(time))),
    'rows that tie': new Set(values).size < values.length,
    'a changed clock':
      inZone !== undefined &&
      calls.some(({ date_added: time }) => /^2026-(?:03-08|11-01) 0[1-3]/.test(String(time))),
    'several accounts': accounts?.length !== 1,
  };
}

/** Counts what was asked. */
export class Coverage {
  readonly #counts = new Map<string, number>();
  readonly #pairs = new Map<string, number>();
  questions = 0;

  /** Takes a question that was answered. */
  add(question: Question, calls: readonly Call[], answer: Answer): void {
    this.questions += 1;
    const { groupBy = [], measures = [], where = '' } = question;
    const text = ` ${String(where)} `;
    const paired = [
      ...measures.map(
        (measure) => `measure ${String(measure) === 'missed as missed_calls' ? 'missed' : measure}`,
      ),
      ...groupBy.map((group) => `group ${group}`),
      ...Object.entries(operators).flatMap(([name, form]) => (form.test(text) ? [`operator ${name}`] : [])),
      ...Object.entries(oddities(question, calls, answer)).flatMap(([name, is]) => (is ? [name] : [])),
    ];
    const others = Object.entries(options).flatMap(([name, has]) => (has(question) ? [name] : []));
    for (const name of [...paired, ...others]) this.#counts.set(name, this.countOf(name) + 1);
    for (const [i, one] of paired.entries())
      for (const other of paired.slice(i + 1)) {
        const pair = pairOf(one, other);
        this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + 1);
      }
  }

  /** How often something was asked. */
  countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** The names and pairs that came less often than they should, with how often. */
  missing(least: number, leastOfPair: number): string[] {
    const pairs = paired.flatMap((one, i) => paired.slice(i + 1).map((other) => pairOf(one, other)));
    const rare = (names: readonly string[], counts: ReadonlyMap<string, number>, wanted: number) =>
      names.flatMap((name) => {
        const count = counts.get(name) ?? 0;
        return count < wanted ? [`${name}: ${count}`] : [];
      });
    return [
      ...rare([...paired, ...Object.keys(options)], this.#counts, least),
      ...rare(pairs, this.#pairs, leastOfPair),
    ];
  }

  /** The figures in one line. */
  toString(): string {
    const counts = [...paired, ...Object.keys(options)].map((name) => this.countOf(name));
    const all = (paired.length * (paired.length - 1)) / 2;
    const pairs = paired.flatMap((one, i) =>
      paired.slice(i + 1).map((other) => this.#pairs.get(pairOf(one, other)) ?? 0),
    );
    return `${this.questions} questions; each of ${counts.length} kinds at least ${Math.min(...counts)} times, each of ${all} pairs at least ${Math.min(...pairs)} times`;
  }
}

const pairOf = (one: string, other: string): string => [one, other].sort().join(' with ');

/** What is counted in pairs. */
const paired: readonly string[] = [
  ...lawMeasures.map((name) => `measure ${name}`),
  ...lawGroups.map((name) => `group ${name}`),
  ...Object.keys(operators).map((name) => `operator ${name}`),
  'a missing value',
  'an empty value',
  'values that differ by case',
  'a number that is none',
  'a time that is none',
  'rows that tie',
  'a changed clock',
  'several accounts',
];
